import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type ObjectContext, createEndpointHandler, object } from '@restatedev/restate-sdk';
import { describe, expect, test } from 'vitest';
import { restateMissing, startRestate } from '../support/restate-server.ts';

const counter = object({
  name: 'counter',
  handlers: {
    add: async (ctx: ObjectContext, by: number) => {
      const sum = ((await ctx.get<number>('sum')) ?? 0) + by;
      ctx.set('sum', sum);
      return sum;
    },
  },
});

describe.skipIf(restateMissing)(`the engine ${restateMissing || 'of these tests'}`, () => {
  test('it keeps what it knows when it is killed and started again', async () => {
    await using server = await startRestate();
    const worker = createServer(createEndpointHandler({ services: [counter] })).listen(0, '127.0.0.1');
    try {
      await once(worker, 'listening');
      await server.register(`http://127.0.0.1:${(worker.address() as AddressInfo).port}`);
      const add = async (by: number): Promise<unknown> => {
        const answer = await fetch(`${server.ingress}/counter/${encodeURIComponent('a/b')}/add`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: `${by}`,
        });
        return answer.json();
      };
      expect(await add(2)).toBe(2);
      await server.kill();
      expect(server.pid).toBeUndefined();
      await expect(add(1)).rejects.toThrow('fetch failed');
      await server.restart();
      expect(await add(3)).toBe(5);
    } finally {
      worker.close();
    }
  });
});
