import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAgent, tool } from '../../src/index.ts';
import { restateSessions, restateWorker } from '../../src/restate/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { type RestateServer, restateMissing, startRestate } from '../support/restate-server.ts';
import { z } from 'zod';

describe.skipIf(restateMissing !== false)('sessions on Restate', () => {
  let server: RestateServer;
  beforeAll(async () => {
    server = await startRestate();
  });
  afterAll(() => server.close());

  test('a turn with a tool goes over the engine', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'Add', input: { a: 1, b: 2 } }] }, 'It is 3.']);
    const add = tool({
      name: 'Add',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => a + b,
    });
    const agent = createAgent({ model, tools: [add] });
    await using worker = restateWorker({ agents: agent });
    await server.register(await worker.listen());
    const session = await restateSessions({ ingress: server.ingress }).open('one');
    expect(await session.send('Add 1 and 2.')).toEqual({ type: 'delivered' });
    const result = await session.settled();
    expect(result.text).toBe('It is 3.');
    expect((await session.toJSON()).messages).toHaveLength(4);
  });
});
