import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Agent, createAgent } from '../../src/index.ts';
import { openaiChat, openaiResponses } from '../../src/models/openai/index.ts';
import { retryAfter } from '../../src/models/provider-hints.ts';
import { delta, sse, startReplayServer, type ScriptedReply } from '../support/replay-server.ts';
import { ask, askStreamed, thrownBy } from './ask.ts';

const failedWith = async (reply: ScriptedReply) => {
  await using server = await startReplayServer([reply]);
  const error = await thrownBy(ask(server));
  expect(server.requests).toHaveLength(1);
  const streamed = await thrownBy(askStreamed(server));
  expect(JSON.stringify(streamed)).toBe(JSON.stringify(error));
  return error;
};

const failure = (status: number, error: unknown, headers: Record<string, string> = {}): ScriptedReply => ({
  status,
  headers,
  json: { error },
});

describe('errors', () => {
  test.each([400, 401, 403, 404, 422])('B98: %i is asked once and will not pass', async (status) => {
    const error = { message: `no: ${status}`, type: 'invalid_request_error', code: 'bad' };
    expect(await failedWith(failure(status, error))).toMatchObject({
      name: 'ModelError',
      code: 'model-request-failed',
      message: `no: ${status}`,
      status,
      transient: false,
      providerCode: 'bad',
      overflow: false,
    });
  });

  test.each([408, 409, 429, 500, 503, 529])('B98, R40: %i is asked once by us and may pass', async (status) => {
    expect(await failedWith(failure(status, { message: 'later' }))).toMatchObject({ status, transient: true });
  });

  test.each<[string, ScriptedReply, string]>([
    [
      'a text',
      { status: 500, body: 'upstream fell over', headers: { 'content-type': 'text/plain' } },
      'upstream fell over',
    ],
    ['an error that is a text', { status: 400, json: { error: 'model not found' } }, 'model not found'],
    ['a message without error', { status: 400, json: { message: 'no such model' } }, 'no such model'],
    ['a detail', { status: 422, json: { detail: 'field required' } }, 'field required'],
    ['a detail that is a list', { status: 422, json: { detail: [{ loc: ['body'] }] } }, '[{"loc":["body"]}]'],
    ['nothing', { status: 502, body: '', headers: { 'content-type': 'text/plain' } }, '502 status code (no body)'],
    ['an error in a list', { status: 429, json: [{ error: { message: 'in a list', code: 429 } }] }, 'in a list'],
  ])('the message is the text of the provider: %s', async (_name, reply, message) => {
    expect((await failedWith(reply)).message).toBe(message);
  });

  test('an exhausted quota will not pass, nor what the server says not to try again', async () => {
    const quota = {
      message: 'You exceeded your current quota',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    };
    expect(await failedWith(failure(429, quota))).toMatchObject({
      transient: false,
      providerCode: 'insufficient_quota',
    });
    const headers = { 'x-should-retry': 'false' };
    expect(await failedWith(failure(503, { message: 'no' }, headers))).toMatchObject({ transient: false });
  });

  test.each([
    ['code', failure(400, { message: 'too long', code: 'context_length_exceeded' })],
    ['message', failure(400, { message: "This model's maximum context length is 8192 tokens." })],
    [
      'llama.cpp',
      failure(400, { message: 'the request exceeds the available context size', type: 'invalid_request_error' }),
    ],
    ['413', failure(413, { message: 'Request Entity Too Large' })],
    ['in a stream', { body: sse({ error: { message: 'maximum context length is 10 tokens' } }), headers: {} }],
  ])('B97: an overflow is recognised by its %s', async (_name, reply) => {
    await using server = await startReplayServer([reply]);
    expect(await thrownBy(askStreamed(server))).toMatchObject({ overflow: true, transient: false });
  });

  test('B97: a rate limit that speaks of tokens is no overflow', async () => {
    const error = { message: 'Rate limit reached: too many tokens per minute' };
    expect(await failedWith(failure(429, error))).toMatchObject({ overflow: false, transient: true });
  });

  const now = Date.parse('2026-01-01T00:00:00Z');
  test.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '3600' }, 3_600_000],
    [{ 'retry-after': '3000000' }, 3_000_000_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': '1e3' }, undefined],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 23:59:30 GMT' }, undefined],
    [{ 'retry-after-ms': '1500' }, 1500],
    [{ 'retry-after-ms': '-1', 'retry-after': '2' }, 2000],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    [{}, undefined],
  ])('B95: %j asks to wait %s ms', (headers, ms) => {
    expect(retryAfter(new Headers(headers), now)).toBe(ms);
  });

  test('B95: the wait is on the error', async () => {
    const error = await failedWith(failure(429, { message: 'slow down' }, { 'retry-after': '2' }));
    expect(error).toMatchObject({ retryAfter: 2000, transient: true });
  });

  test('no server: may pass, and the message says why', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await new Promise((resolve) => server.close(resolve));
    const model = openaiChat({ model: 'm', baseURL: `http://127.0.0.1:${port}/v1` });
    const error = await thrownBy(model.generate({ messages: [] }, { signal: new AbortController().signal }));
    expect(error).toMatchObject({ name: 'ModelError', transient: true, status: undefined });
    expect(error.message).toMatch(/ECONNREFUSED .*; is the base URL right, and its server up\?$/);
  });

  test('R41: a whole reply that breaks off, or is not JSON, may pass', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const reply of [
      { body: '{"choices":[{"index":0,"mess', headers },
      { body: '{"choices":[', headers, then: 'destroy' as const },
      { body: '<html>busy</html>', headers },
      { body: '"hi"', headers },
    ]) {
      await using server = await startReplayServer([reply]);
      expect(await thrownBy(ask(server))).toMatchObject({ code: 'model-stream-broken', transient: true });
    }
  });

  test('a page with status 200 is told as one, whole and streamed', async () => {
    const reply = { body: '\n<!doctype html><title>Log in</title>', headers: { 'content-type': 'text/html' } };
    await using server = await startReplayServer([reply]);
    for (const error of [await thrownBy(ask(server)), await thrownBy(askStreamed(server))]) {
      expect(error).toMatchObject({ code: 'model-stream-broken', transient: true });
      expect(error.message).toContain('is the base URL the right one?');
    }
  });

  test.each<[string, string, ScriptedReply]>([
    ['a server that repeats it', 'my-own-key-1', failure(401, { message: 'wrong key: my-own-key-1', code: 'no' })],
    ['an error in a stream', 'my-own-key-2', { body: sse({ error: { message: 'wrong key: my-own-key-2' } }) }],
    ['a line that cannot be read', 'my-own-key-3', { body: 'data: who are you, my-own-key-3?\n\n' }],
    ['a key that is no header', 'my-own\nkey-4', { json: {} }],
  ])('the key stands in no error: %s', async (_name, apiKey, reply) => {
    await using server = await startReplayServer([reply]);
    for (const error of [
      await thrownBy(ask(server, {}, { apiKey })),
      await thrownBy(askStreamed(server, {}, { apiKey })),
    ]) {
      expect(error.name).toBe('ModelError');
      expect(inspect(error, { depth: 10 })).not.toContain('key-');
    }
  });

  test('a failure whose words held the key says all else as before', async () => {
    const error = failure(429, { message: 'wait, my-own-key', code: 'slow' }, { 'retry-after': '2' });
    await using server = await startReplayServer([error]);
    const { generate } = openaiResponses({ model: 'm', baseURL: server.baseURL, apiKey: 'my-own-key' });
    const request = { messages: [{ role: 'user' as const, content: 'hi' }] };
    expect(await thrownBy(generate(request, { signal: new AbortController().signal }))).toMatchObject({
      message: 'wait, [redacted]',
      code: 'model-request-failed',
      status: 429,
      transient: true,
      retryAfter: 2000,
      providerCode: 'slow',
    });
  });

  test('an error survives JSON', async () => {
    const error = await failedWith(failure(429, { message: 'slow', code: 'rate_limited' }, { 'retry-after': '1' }));
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'ModelError',
      code: 'model-request-failed',
      message: 'slow',
      status: 429,
      transient: true,
      retryAfter: 1000,
      overflow: false,
      providerCode: 'rate_limited',
      host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    });
  });

  test.each([
    ['whole', (agent: Agent) => agent.run('hi')],
    ['streamed', (agent: Agent) => agent.stream('hi').result],
  ])('R40: a failed turn says which model failed and where it was asked, and how in few words, %s', async (_, run) => {
    const page = { status: 400, body: `<html>${'x'.repeat(100_000)}`, headers: { 'content-type': 'text/html' } };
    await using server = await startReplayServer([page]);
    const model = openaiChat({ model: 'm', baseURL: server.baseURL, apiKey: 'my-own-key' });
    const error = await thrownBy(run(createAgent({ model })));
    expect(error.message).toMatch(new RegExp(`^model "m" at ${new URL(server.baseURL).host}: <html>x`));
    expect(JSON.stringify(error).length).toBeLessThan(20_000);
    expect(JSON.stringify(error)).not.toContain('my-own-key');
  });

  test('B18: a destroyed socket before the headers may pass', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const model = openaiChat({ model: 'm', baseURL: `http://127.0.0.1:${port}/v1` });
    expect(await thrownBy(model.generate({ messages: [] }, { signal: new AbortController().signal }))).toMatchObject({
      transient: true,
    });
    server.close();
  });

  test('text that was streamed before an error is no reply', async () => {
    await using server = await startReplayServer([{ body: sse(delta({ content: 'par' }), { error: 'no' }) }]);
    expect(await thrownBy(askStreamed(server))).toMatchObject({ message: 'no' });
  });
});
