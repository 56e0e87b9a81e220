import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { openaiChat } from '../../src/models/openai/index.ts';
import { delta, sseOpen, startReplayServer } from '../support/replay-server.ts';
import { modelOf, streamOf, thrownBy } from './ask.ts';

const begun = { body: sseOpen(delta({ content: 'par' })), then: 'stay-open' as const };
const silent = { delay: 60_000 };
const hello = { messages: [{ role: 'user' as const, content: 'hello' }] };

const all = async (stream: AsyncIterable<unknown>): Promise<void> => {
  for await (const _chunk of stream);
};

describe('R35: a request that is stopped', () => {
  test('rejects with the reason at once, in the middle of a stream, and closes the socket', async () => {
    await using server = await startReplayServer([begun]);
    const controller = new AbortController();
    const reason = new Error('enough');
    const chunks: unknown[] = [];
    const reading = (async () => {
      for await (const chunk of streamOf(server, {}, { signal: controller.signal })) {
        chunks.push(chunk);
        setImmediate(() => controller.abort(reason));
      }
    })();
    expect(await thrownBy(reading)).toBe(reason);
    expect(chunks).toEqual([{ type: 'text-delta', text: 'par' }]);
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test.each(['whole', 'streamed'])('rejects before the headers came, %s', async (way) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    await using server = await startReplayServer(() => {
      setImmediate(() => controller.abort(reason));
      return silent;
    });
    const { signal } = controller;
    const asked = way === 'whole' ? modelOf(server).generate(hello, { signal }) : all(streamOf(server, {}, { signal }));
    expect(await thrownBy(asked)).toBe(reason);
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test.each(['whole', 'streamed'])(
    'R40: a server that stays silent is left after the timeout of the client, and may be asked again, %s',
    async (way) => {
      await using server = await startReplayServer(() => silent);
      const client = new OpenAI({ baseURL: server.baseURL, apiKey: 'key', timeout: 20 });
      const model = openaiChat({ model: 'scripted', client });
      const { signal } = new AbortController();
      const stream = model.stream?.(hello, { signal });
      const asked = way === 'whole' || stream === undefined ? model.generate(hello, { signal }) : all(stream);
      expect(await thrownBy(asked)).toMatchObject({ code: 'model-request-failed', transient: true });
      expect(server.requests).toHaveLength(1);
      expect(await server.requests[0]?.closed).toBe(true);
    },
  );

  test('rejects in the middle of a whole reply', async () => {
    const headers = { 'content-type': 'application/json' };
    await using server = await startReplayServer([{ body: '{"choices":[', headers, then: 'stay-open' }]);
    const controller = new AbortController();
    const reason = new Error('enough');
    const client = new OpenAI({
      baseURL: server.baseURL,
      apiKey: 'key',
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        setImmediate(() => controller.abort(reason));
        return response;
      },
    });
    const asked = openaiChat({ model: 'scripted', client }).generate(hello, { signal: controller.signal });
    expect(await thrownBy(asked)).toBe(reason);
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test('sends nothing where it was stopped before', async () => {
    await using server = await startReplayServer([begun]);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    expect(await thrownBy(modelOf(server).generate(hello, { signal }))).toBe(reason);
    expect(await thrownBy(all(streamOf(server, {}, { signal })))).toBe(reason);
    expect(server.requests).toHaveLength(0);
  });
});

describe('B85: a stream that is left', () => {
  test('break closes the socket', async () => {
    await using server = await startReplayServer([begun]);
    for await (const _chunk of streamOf(server)) break;
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test('return() closes the socket', async () => {
    await using server = await startReplayServer([begun]);
    const iterator = streamOf(server)[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: { type: 'text-delta', text: 'par' } });
    await iterator.return?.();
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test('a consumer that throws closes the socket', async () => {
    await using server = await startReplayServer([begun]);
    const reading = (async () => {
      for await (const _chunk of streamOf(server)) throw new Error('mine');
    })();
    expect((await thrownBy(reading)).message).toBe('mine');
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test('one that is never read sends nothing', async () => {
    await using server = await startReplayServer([begun]);
    streamOf(server);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.requests).toHaveLength(0);
  });
});
