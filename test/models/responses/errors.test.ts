import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openaiResponses } from '../../../src/models/openai/index.ts';
import { startReplayServer, type ScriptedReply } from '../../support/replay-server.ts';
import { thrownBy } from '../ask.ts';
import { ask, askStreamed, modelOf, played, streamOf } from './ask.ts';
import { added, created, events, type Item, message, piece, response, streamed } from './events.ts';

const failedWith = async (reply: ScriptedReply): Promise<Error> => {
  await using server = await startReplayServer([reply]);
  const error = await thrownBy(ask(server));
  expect(server.requests).toHaveLength(1);
  expect(JSON.stringify(await thrownBy(askStreamed(server)))).toBe(JSON.stringify(error));
  return error;
};

describe('errors', () => {
  test.each([400, 401, 404, 422])('R40: %i is asked once and will not pass', async (status) => {
    const error = { message: `no: ${status}`, type: 'invalid_request_error', code: 'bad' };
    expect(await failedWith({ status, json: { error } })).toMatchObject({
      name: 'ModelError',
      code: 'model-request-failed',
      message: `no: ${status}`,
      status,
      transient: false,
      providerCode: 'bad',
    });
  });

  test.each([408, 409, 429, 500, 503])('R40: %i is asked once by us and may pass', async (status) => {
    const headers = { 'retry-after': '2' };
    const error = await failedWith({ status, headers, json: { error: { message: 'later' } } });
    expect(error).toMatchObject({ status, transient: true, retryAfter: 2000 });
  });

  test('B97: an overflow is recognised', async () => {
    const error = { message: 'Your input exceeds the context window', code: 'context_length_exceeded' };
    expect(await failedWith({ status: 400, json: { error } })).toMatchObject({ overflow: true, transient: false });
  });

  const failed = (code: string, text = 'it failed'): Item => ({
    type: 'response.failed',
    response: response([], { status: 'failed', error: { code, message: text } }),
  });

  test.each<[string, Item | string, object]>([
    [
      'response.failed',
      failed('server_error'),
      { message: 'it failed', providerCode: 'server_error', transient: true },
    ],
    ['a rate limit', failed('rate_limit_exceeded'), { providerCode: 'rate_limit_exceeded', transient: true }],
    ['a prompt that is refused', failed('invalid_prompt'), { providerCode: 'invalid_prompt', transient: false }],
    ['an image that cannot be read', failed('image_parse_error'), { transient: false }],
    ['a policy', failed('bio_policy'), { transient: false }],
    ['no reason', { type: 'response.failed', response: { status: 'failed' } }, { code: 'model-stream-broken' }],
    [
      'error, as documented',
      { type: 'error', code: 'server_error', message: 'it failed', param: null, sequence_number: 1 },
      { message: 'it failed', providerCode: 'server_error', transient: true },
    ],
    [
      'error, as recorded',
      { type: 'error', error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'quota' } },
      { message: 'quota', transient: false },
    ],
    ['error without an event name', 'data: {"type":"error","code":"x","message":"no"}\n\n', { message: 'no' }],
    ['an error object', 'data: {"error":{"message":"no","code":400}}\n\n', { message: 'no', status: 400 }],
  ])('R41: %s inside a 200 stream', async (_name, event, expected) => {
    const text = piece(0, 'output_text', 'par');
    expect(await thrownBy(played({ body: events(event) }))).toMatchObject(expected);
    expect(await thrownBy(played({ body: events(created, added(0, message('')), text, event) }))).toMatchObject(
      expected,
    );
  });

  test('R41: a whole reply that failed, is not finished, or is no response', async () => {
    const error = { code: 'server_error', message: 'it failed' };
    expect(await failedWith({ json: response([], { status: 'failed', error }) })).toMatchObject({
      message: 'it failed',
    });
    expect(await failedWith({ json: response([], { status: 'queued' }) })).toMatchObject({ transient: false });
    expect(await failedWith({ json: { choices: [] } })).toMatchObject({
      code: 'model-request-failed',
      message: 'the reply is not a response: it has no output',
      transient: false,
    });
    const headers = { 'content-type': 'application/json' };
    for (const body of ['{"output":[', '<html>busy</html>', '"hi"']) {
      expect(await failedWith({ body, headers })).toMatchObject({ code: 'model-stream-broken', transient: true });
    }
  });

  test('no server: may pass, and the message says why', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await new Promise((resolve) => server.close(resolve));
    const model = openaiResponses({ model: 'm', baseURL: `http://127.0.0.1:${port}/v1` });
    const error = await thrownBy(model.generate({ messages: [] }, { signal: new AbortController().signal }));
    expect(error).toMatchObject({ name: 'ModelError', transient: true, status: undefined });
    expect(error.message).toContain('ECONNREFUSED');
  });
});

describe('R35: a request that is stopped', () => {
  const begun = {
    body: events(created, added(0, message('')), piece(0, 'output_text', 'par')),
    then: 'stay-open' as const,
  };
  const hello = { messages: [{ role: 'user' as const, content: 'hello' }] };
  const reason = new Error('enough');
  const all = async (stream: AsyncIterable<unknown>): Promise<void> => {
    for await (const _chunk of stream);
  };

  test('rejects with the reason in the middle of a stream, and closes the socket', async () => {
    await using server = await startReplayServer([begun]);
    const controller = new AbortController();
    const reading = (async () => {
      for await (const _chunk of streamOf(server, {}, { signal: controller.signal })) controller.abort(reason);
    })();
    expect(await thrownBy(reading)).toBe(reason);
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test.each(['whole', 'streamed'])('rejects before the headers came, %s', async (way) => {
    const controller = new AbortController();
    await using server = await startReplayServer(() => {
      setImmediate(() => controller.abort(reason));
      return { delay: 60_000 };
    });
    const { signal } = controller;
    const asked = way === 'whole' ? modelOf(server).generate(hello, { signal }) : all(streamOf(server, {}, { signal }));
    expect(await thrownBy(asked)).toBe(reason);
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test('sends nothing where it was stopped before', async () => {
    await using server = await startReplayServer([begun]);
    const signal = AbortSignal.abort(reason);
    expect(await thrownBy(modelOf(server).generate(hello, { signal }))).toBe(reason);
    expect(await thrownBy(all(streamOf(server, {}, { signal })))).toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  test('B85: a stream that is left closes the socket', async () => {
    await using server = await startReplayServer([begun]);
    for await (const _chunk of streamOf(server)) break;
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test('B18: a socket that is destroyed after the end does not matter', async () => {
    const { reply } = await played({ body: streamed([message('hi')]), then: 'destroy' });
    expect(reply.finishReason).toBe('stop');
  });
});
