import { describe, expect, test, vi } from 'vitest';
import { textOf } from '../../src/messages/message.ts';
import { callPiece as T, completion, delta, sse, sseOpen, startReplayServer } from '../support/replay-server.ts';
import { ask, askStreamed, callsIn } from './ask.ts';
import { failed, hi, played } from './played.ts';

describe('how a stream ends', () => {
  const broken = { code: 'model-stream-broken', transient: true };

  test('B17: a connection that closes inside the arguments is an error', async () => {
    const body = sseOpen(
      delta({ role: 'assistant', content: 'Saving.' }),
      delta({ tool_calls: [T(0, 'c1', 'write_file', '{"path":"a.txt","content":"abc')] }),
    );
    expect(await failed({ body })).toMatchObject(broken);
    expect(await failed({ body: `${body}data: {"choices":[{"ind` })).toMatchObject(broken);
  });

  test('B18 (1), R41: text without an end is an error, whether the socket closes or is destroyed', async () => {
    const body = sseOpen(delta({ content: 'The answer is' }));
    expect(await failed({ body })).toMatchObject(broken);
    expect(await failed({ body, then: 'destroy' })).toMatchObject(broken);
    expect(await failed({ body: sse(delta({ content: 'The answer is' })) })).toMatchObject(broken);
  });

  test('B18 (2): after [DONE] the reply is there at once and the socket is closed', async () => {
    await using server = await startReplayServer([{ body: sse(hi), then: 'stay-open' }]);
    const { reply } = await askStreamed(server);
    expect(textOf(reply.message)).toBe('hi');
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test('B18 (3): a finish reason is enough', async () => {
    expect(textOf((await played({ body: sseOpen(hi) })).message)).toBe('hi');
    expect(textOf((await played({ body: sseOpen(hi), then: 'destroy' })).message)).toBe('hi');
  });

  test('B18 (3): a server that says no more and keeps the socket open is not waited for', async () => {
    const later = setTimeout;
    const soon = (task: () => void, ms?: number) => later(task, ms === 10_000 ? 0 : ms);
    using _ = vi.spyOn(globalThis, 'setTimeout').mockImplementation(soon as typeof setTimeout);
    await using server = await startReplayServer([{ body: sseOpen(hi), then: 'stay-open' }]);
    const { reply } = await askStreamed(server);
    expect(textOf(reply.message)).toBe('hi');
    expect(await server.requests[0]?.closed).toBe(true);
  });

  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  test.each([
    ['[]', { choices: [], usage }],
    ['null', { choices: null, usage }],
    ['absent', { usage }],
  ])('B19: a usage chunk with choices %s, last or first', async (_name, chunk) => {
    for (const events of [
      [hi, chunk],
      [chunk, hi],
    ]) {
      const reply = await played({ body: sse(...events) });
      expect(textOf(reply.message)).toBe('hi');
      expect(reply.usage).toEqual({ inputTokens: 1, outputTokens: 1, totalTokens: 2 });
    }
  });

  test('the last usage of a stream wins', async () => {
    const counted = (n: number) => ({
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: n, total_tokens: 1 + n },
    });
    const reply = await played({ body: sse(counted(1), hi, counted(7), { choices: [], usage: null }) });
    expect(reply.usage).toEqual({ inputTokens: 1, outputTokens: 7, totalTokens: 8 });
  });

  test.each([['stop'], ['other'], ['unknown'], [null]])(
    'B21: calls count, whatever the finish reason: %s',
    async (reason) => {
      const body = sse(
        delta({ role: 'assistant', content: 'Let me look.' }),
        delta({ tool_calls: [T(0, 'c1', 'f', '{}'), T(1, 'c2', 'g', '{}')] }),
        delta({}, reason),
      );
      const reply = await played({ body });
      expect(callsIn(reply)).toEqual([
        ['c1', 'f', {}],
        ['c2', 'g', {}],
      ]);
      expect(reply.finishReason).toBe(reason === 'stop' ? 'stop' : 'other');
    },
  );

  test('B21: without a finish reason, a call that is not whole is an error even after [DONE]', async () => {
    expect(await failed({ body: sse(delta({ tool_calls: [T(0, 'c1', 'f', '{"a":')] })) })).toMatchObject(broken);
  });

  test('B22: finish reason tool_calls without calls is told as it is', async () => {
    await using server = await startReplayServer([{ json: completion({ content: '', tool_calls: [] }, 'tool_calls') }]);
    expect(await ask(server)).toMatchObject({ message: { content: [] }, finishReason: 'tool-calls' });
  });

  test.each([
    ['quota exceeded', { error: { message: 'quota exceeded', code: null } }, false],
    ['STREAM_EXPLODED', { error: 'STREAM_EXPLODED' }, true],
    ['no credit', { error: { message: 'no credit', type: 'insufficient_quota' } }, false],
    ['overloaded', { error: { message: 'overloaded', code: 529 } }, true],
    ['bad key', { error: { message: 'bad key', code: 401 } }, false],
    ['old style', { object: 'error', message: 'old style', code: 400 }, false],
  ])(
    'B24: an error object in a 200 stream fails with the text of the provider: %s',
    async (message, event, transient) => {
      const expected = { code: 'model-request-failed', message, transient };
      expect(await failed({ body: sse(event) })).toMatchObject(expected);
      expect(await failed({ body: sse(delta({ content: 'par' }), event) })).toMatchObject(expected);
      expect(await failed({ json: event })).toMatchObject(expected);
    },
  );

  test('B24: an event of type error is an error', async () => {
    const body = 'event: error\ndata: {"message":"no","code":500}\n\n';
    expect(await failed({ body })).toMatchObject({ message: 'no', status: 500, transient: true });
  });

  test.each([['error'], ['insufficient_system_resource']])(
    'a finish reason that says broken off: %s',
    async (reason) => {
      expect(await failed({ body: sse(delta({ content: 'par' }, reason)) })).toMatchObject(broken);
    },
  );
});

describe('the wire', () => {
  test.each([['data: : keepalive\n\n'], ['data: \n\n'], ['data:\n\n'], ['\n\n'], ['event: ping\ndata: \n\n']])(
    'B26: %j is passed over',
    async (line) => {
      expect(textOf((await played({ body: sse(line, hi, line) })).message)).toBe('hi');
    },
  );

  test('B26: a line that is not JSON is an error that shows it', async () => {
    const error = await failed({ body: sse('data: <html>busy</html>\n\n', hi) });
    expect(error).toMatchObject({ code: 'model-stream-broken', transient: true });
    expect(error.message).toContain('<html>busy</html>');
  });

  test('B27: legal comments, also bare and after an id', async () => {
    const chunk = JSON.stringify(delta({ content: 'hi' }));
    const end = JSON.stringify(delta({}, 'stop'));
    const body = `id: 1\ndata: ${chunk}\n\n: ping\n\n:\n\n: OPENROUTER PROCESSING\n\ndata: ${end}\n\ndata: [DONE]\n\n`;
    expect(textOf((await played({ body })).message)).toBe('hi');
    expect(textOf((await played({ body: body.replaceAll('\n', '\r\n'), pieceSize: 3 })).message)).toBe('hi');
  });

  test('a server that answers whole where a stream was asked for', async () => {
    await using server = await startReplayServer([{ json: completion({ content: 'hi' }) }]);
    const { reply, chunks } = await askStreamed(server);
    expect(chunks.map((chunk) => chunk.type)).toEqual(['text-delta', 'finish']);
    expect(textOf(reply.message)).toBe('hi');
  });
});
