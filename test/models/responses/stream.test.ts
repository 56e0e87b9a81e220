import { describe, expect, test } from 'vitest';
import { textOf } from '../../../src/messages/message.ts';
import { startReplayServer } from '../../support/replay-server.ts';
import { callsIn, reasoningOf, thrownBy } from '../ask.ts';
import { ask, askStreamed, joined, key, played } from './ask.ts';
import {
  added,
  call,
  completed,
  created,
  customCall,
  done,
  events,
  type Item,
  message,
  piece,
  reasoning,
  response,
  streamed,
} from './events.ts';

const broken = { code: 'model-stream-broken', transient: true };
const failed = (body: string, then?: 'destroy') => thrownBy(played({ body, ...(then === undefined ? {} : { then }) }));

const begun = added(0, message('', { content: [] }));
const hello = events(created, begun, piece(0, 'output_text', 'The answer'), piece(0, 'output_text', ' is 5.'));

describe('how a stream ends', () => {
  test('R41: text without response.completed is an error, whether the socket closes, is destroyed, or [DONE] came', async () => {
    expect(await failed(hello)).toMatchObject(broken);
    expect(await failed(hello, 'destroy')).toMatchObject(broken);
    expect(await failed(`${hello}data: [DONE]\n\n`)).toMatchObject(broken);
    expect(await failed(hello + events(done(0, message('The answer is 5.'))))).toMatchObject(broken);
    expect(await failed(`${hello}data: {"type":"response.comp`)).toMatchObject(broken);
    expect(await failed('')).toMatchObject(broken);
  });

  test('R41: a call without response.completed is an error', async () => {
    expect(await failed(events(created, added(0, call('f', '{}')), done(0, call('f', '{}'))))).toMatchObject(broken);
  });

  test('after response.completed the reply is there at once and the socket is closed', async () => {
    await using server = await startReplayServer([{ body: streamed([message('hi')]), then: 'stay-open' }]);
    expect(textOf((await askStreamed(server)).reply.message)).toBe('hi');
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content-filter'],
    ['something', 'other'],
  ])('response.incomplete, %s, ends a stream and a whole reply as %s', async (reason, finishReason) => {
    const half = response([message('par', { status: 'incomplete' })], {
      status: 'incomplete',
      incomplete_details: { reason },
    });
    const body = events(created, begun, piece(0, 'output_text', 'par'), {
      type: 'response.incomplete',
      response: half,
    });
    for (const reply of [(await played({ body })).reply, (await played({ json: half })).reply]) {
      expect(reply).toMatchObject({ finishReason, message: { content: [{ text: 'par' }] } });
    }
  });

  test('R5: a call that was cut off by the limit is there, with the reason', async () => {
    const cut = call('f', '{"a":', 'call_1', { status: 'incomplete' });
    const half = response([cut], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    const body = events(added(0, cut), { type: 'response.incomplete', response: half });
    const { reply } = await played({ body });
    expect(reply.finishReason).toBe('length');
    expect(callsIn(reply)).toEqual([['call_1', 'f', '{"a":']]);
  });

  test('a whole reply where a stream was asked for', async () => {
    const { reply, chunks } = await played({ json: response([reasoning('hm'), message('hi')]) });
    expect(chunks.map((chunk) => chunk.type)).toEqual(['reasoning-delta', 'text-delta', 'finish']);
    expect(textOf(reply.message)).toBe('hi');
  });
});

describe('how a stream is read', () => {
  test('deltas are told, and the items that were sent whole count', async () => {
    const items = [reasoning('Let me see.'), call('f', '{"a":1}'), call('g', '{}', 'call_2')];
    const { reply, chunks } = await played({
      body: events(
        created,
        added(0, reasoning('')),
        piece(0, 'reasoning_summary_text', 'Let me', { summary_index: 0 }),
        piece(0, 'reasoning_summary_text', ' see.', { summary_index: 0 }),
        done(0, reasoning('Let me see.')),
        added(1, call('f', '')),
        added(2, call('g', '', 'call_2')),
        piece(2, 'function_call_arguments', '{'),
        piece(1, 'function_call_arguments', '{"a"'),
        piece(2, 'function_call_arguments', '}'),
        piece(1, 'function_call_arguments', ':1}'),
        done(2, call('g', '{}', 'call_2')),
        done(1, call('f', '{"a":1}')),
        completed(items),
      ),
    });
    expect(callsIn(reply)).toEqual([
      ['call_1', 'f', { a: 1 }],
      ['call_2', 'g', {}],
    ]);
    expect(chunks.slice(0, -1)).toEqual([
      { type: 'reasoning-delta', text: 'Let me' },
      { type: 'reasoning-delta', text: ' see.' },
      { type: 'tool-input-delta', index: 1, toolName: 'g', text: '{' },
      { type: 'tool-input-delta', index: 0, toolName: 'f', text: '{"a"' },
      { type: 'tool-input-delta', index: 1, toolName: 'g', text: '}' },
      { type: 'tool-input-delta', index: 0, toolName: 'f', text: ':1}' },
    ]);
    expect(reply.finishReason).toBe('tool-calls');
  });

  test('what did not come in pieces is told when it comes whole', async () => {
    const { chunks } = await played({ body: streamed([reasoning('hm'), message('hi'), call('f', '{"a":1}')]) });
    expect(chunks.slice(0, -1)).toEqual([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta', text: 'hi' },
      { type: 'tool-input-delta', index: 0, toolName: 'f', text: '{"a":1}' },
    ]);
  });

  test('a text that is repeated whole is not told twice', async () => {
    const { chunks } = await played({
      body: events(
        begun,
        piece(0, 'output_text', 'The answer', { content_index: 0 }),
        { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'The answer is 5.' },
        done(0, message('The answer is 5.')),
        completed([message('The answer is 5.')]),
      ),
    });
    expect(joined(chunks, 'text-delta')).toBe('The answer is 5.');
  });

  test('several parts of a summary are paragraphs', async () => {
    const summary = [
      { type: 'summary_text', text: 'One.' },
      { type: 'summary_text', text: 'Two.' },
    ];
    const { reply, chunks } = await played({
      body: events(
        added(0, reasoning('')),
        piece(0, 'reasoning_summary_text', 'One.', { summary_index: 0 }),
        piece(0, 'reasoning_summary_text', 'Two', { summary_index: 1 }),
        piece(0, 'reasoning_summary_text', '.', { summary_index: 1 }),
        done(0, reasoning('', { summary })),
        completed([reasoning('', { summary })]),
      ),
    });
    expect(reasoningOf(reply)).toBe('One.\n\nTwo.');
    expect(joined(chunks, 'reasoning-delta')).toBe('One.\n\nTwo.');
  });

  test('a last event without output, and items that were never finished: the pieces make the reply', async () => {
    const { reply } = await played({
      body: events(
        begun,
        piece(0, 'output_text', 'hi'),
        added(1, call('f', '')),
        piece(1, 'function_call_arguments', '{"a":1}'),
        added(2, customCall('sql', '', 'call_2')),
        piece(2, 'custom_tool_call_input', 'SELECT 1'),
        completed([]),
      ),
    });
    expect(textOf(reply.message)).toBe('hi');
    expect(callsIn(reply)).toEqual([
      ['call_1', 'f', { a: 1 }],
      ['call_2', 'sql', { input: 'SELECT 1' }],
    ]);
  });

  test('items that only the last event holds are taken, in its order', async () => {
    const items = [reasoning('hm'), message('hi'), call('f', '{}')];
    const { reply, chunks } = await played({ body: events(done(1, message('hi')), completed(items)) });
    expect(reply.message.content).toMatchObject([{ type: 'reasoning' }, { type: 'text' }, { type: 'tool-call' }]);
    expect(joined(chunks, 'text-delta')).toBe('hi');
  });

  test('other ids in the last event make no second call', async () => {
    const { reply } = await played({
      body: events(done(0, call('f', '{}')), completed([call('f', '{}', 'call_1', { id: 'fc_other' })])),
    });
    expect(callsIn(reply)).toEqual([['call_1', 'f', {}]]);
  });

  test('pieces of an item that was not begun, and items without a number', async () => {
    const bare = ({ output_index: _index, ...event }: Item): Item => event;
    const { reply } = await played({
      body: events(
        bare(piece(0, 'output_text', 'hi', { item_id: 'msg_1' })),
        bare(done(1, call('f', '{}'))),
        completed([]),
      ),
    });
    expect(textOf(reply.message)).toBe('hi');
    expect(callsIn(reply)).toEqual([['call_1', 'f', {}]]);
  });

  test('events that we do not know are passed over', async () => {
    const { reply } = await played({
      body: events(
        created,
        { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' },
        { type: 'keepalive' },
        done(0, message('hi')),
        completed([message('hi')]),
      ),
    });
    expect(textOf(reply.message)).toBe('hi');
  });

  test('R5: calls count, whatever the status says; a call without a name is an error', async () => {
    await using server = await startReplayServer([{ json: response([call('f', '{}')], { status: undefined }) }]);
    expect((await ask(server)).finishReason).toBe('tool-calls');
    expect(await failed(streamed([call('', '{}')]))).toMatchObject(broken);
  });

  test('R8: two calls with one id, and calls without one, are calls of their own', async () => {
    const calls = [call('f', '{"n":1}'), call('f', '{"n":2}', 'call_1', { id: 'fc_2' })];
    const bare = [3, 4].map((n) => call('f', `{"n":${n}}`, '', { call_id: undefined, id: undefined }));
    const { reply } = await played({ body: streamed([...calls, ...bare]) });
    expect(callsIn(reply)).toEqual([
      ['call_1', 'f', { n: 1 }],
      ['call_1', 'f', { n: 2 }],
      ['', 'f', { n: 3 }],
      ['', 'f', { n: 4 }],
    ]);
  });

  test('R17: arguments that cannot be read are handed on as they are', async () => {
    const { reply } = await played({ body: streamed([call('f', '{"a":'), call('g', '', 'call_2')]) });
    expect(callsIn(reply)).toEqual([
      ['call_1', 'f', '{"a":'],
      ['call_2', 'g', ''],
    ]);
  });

  test('R42: a refusal is told as one, streamed and whole', async () => {
    const content = [{ type: 'refusal', refusal: 'I cannot help with that.' }];
    const refusing = message('', { content });
    const body = events(
      begun,
      piece(0, 'refusal', 'I cannot'),
      piece(0, 'refusal', ' help with that.'),
      done(0, refusing),
      completed([refusing]),
    );
    const unfinished = events(begun, piece(0, 'refusal', 'I cannot help with that.'), completed([]));
    for (const how of [{ body }, { body: unfinished }, { json: response([refusing]) }]) {
      const { reply, chunks } = await played(how);
      expect(reply.refusal).toBe('I cannot help with that.');
      expect(textOf(reply.message)).toBe('');
      expect(joined(chunks, 'text-delta')).toBe('');
    }
  });

  test('R43: usage by kind', async () => {
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 6,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 16,
    };
    const { reply } = await played({ body: streamed([message('hi')], { usage }) });
    const read = { inputTokens: 10, outputTokens: 6, totalTokens: 16, cachedInputTokens: 4, reasoningTokens: 5 };
    expect(reply.usage).toEqual(read);
    expect((await played({ json: response([message('hi')], { usage: null }) })).reply).not.toHaveProperty('usage');
  });

  test('the id of a reply that the server keeps stands on the message', async () => {
    const kept = await played({ json: response([message('hi')]) });
    expect(kept.reply.message.providerOptions).toEqual({ [key]: { responseId: 'resp_1' } });
    const gone = await played({ json: response([message('hi')], { store: false }) });
    expect(gone.reply.message.providerOptions).toBeUndefined();
  });
});
