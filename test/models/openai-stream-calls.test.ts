import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/messages/message.ts';
import { callPiece as T, delta, sse, startReplayServer } from '../support/replay-server.ts';
import { askStreamed, callsIn } from './ask.ts';
import { failed, played } from './played.ts';

/** The calls of a stream with these `tool_calls` lists. */
const callsOf = async (lists: unknown[][], finishReason = 'tool_calls', toolNames: string[] = []) => {
  const deltas = lists.map((list, index) =>
    delta({ tool_calls: list }, index === lists.length - 1 ? finishReason : null),
  );
  return callsIn(await played({ body: sse(delta({ role: 'assistant' }), ...deltas) }, toolNames));
};

const u = undefined;

describe('calls in a stream', () => {
  test('B01: calls without an index are told apart by their ids', async () => {
    expect(await callsOf([[T(u, 'c1', 'get_a', '{"x":1}')], [T(u, 'c2', 'get_b', '{"y":2}')]])).toEqual([
      ['c1', 'get_a', { x: 1 }],
      ['c2', 'get_b', { y: 2 }],
    ]);
  });

  test('B01: without ids, a new name begins a new call', async () => {
    expect(await callsOf([[T(u, u, 'get_a', '{"x":1}')], [T(u, u, 'get_b', '{"y":')], [T(u, u, u, '2}')]])).toEqual([
      ['', 'get_a', { x: 1 }],
      ['', 'get_b', { y: 2 }],
    ]);
  });

  test('B03: parallel calls that all carry index 0 are three calls', async () => {
    const titles = ['A', 'B', 'C'];
    expect(await callsOf(titles.map((title, at) => [T(0, `c${at}`, 'add_task', JSON.stringify({ title }))]))).toEqual(
      titles.map((title, at) => [`c${at}`, 'add_task', { title }]),
    );
  });

  test('B04: fragments of two calls that are interleaved find their calls', async () => {
    const lists = [
      [T(0, 'A', 'tool_a', '')],
      [T(1, 'B', 'tool_b', '')],
      [T(0, u, u, '{"target":')],
      [T(1, u, u, '{"target":')],
      [T(0, u, u, '"A_ONLY"}')],
      [T(1, u, u, '"B_ONLY"}')],
    ];
    expect(await callsOf(lists)).toEqual([
      ['A', 'tool_a', { target: 'A_ONLY' }],
      ['B', 'tool_b', { target: 'B_ONLY' }],
    ]);
  });

  test.each([[''], [null]])('B06: id and name given again as %j are absent', async (none) => {
    const lists = [[T(0, 'c1', 'calculator', '{')], [T(0, none, none, '"expression": ')], [T(0, none, none, '"2+2"}')]];
    expect(await callsOf(lists)).toEqual([['c1', 'calculator', { expression: '2+2' }]]);
  });

  test('B07: no id at all and the name in every piece is one call with an empty id', async () => {
    const lists = ['{"', 'location', '":"SF"}'].map((text) => [T(0, u, 'get_weather', text)]);
    expect(await callsOf(lists)).toEqual([['', 'get_weather', { location: 'SF' }]]);
  });

  test('B08: a placeholder id, an empty name and an index as text continue the call', async () => {
    const lists = [[T(0, 'c1', 'get_weather', '')], [T(0, 'null', '', '{"city":')], [T('0', u, null, '"SF"}')]];
    expect(await callsOf(lists)).toEqual([['c1', 'get_weather', { city: 'SF' }]]);
  });

  test('B08: a call that never gets a name is an error, not a call', async () => {
    const error = await failed({ body: sse(delta({ tool_calls: [T(0, 'c1', '', '{"a":1}')] }, 'tool_calls')) });
    expect(error).toMatchObject({ code: 'model-stream-broken', transient: true });
  });

  test('B10: a name in pieces is joined where the joined name is a tool', async () => {
    const lists = [[T(0, 'c1', 'get_', '')], [T(0, 'c1', 'weather', '')], [T(0, u, u, '{}')]];
    expect(await callsOf(lists, 'tool_calls', ['get_weather'])).toEqual([['c1', 'get_weather', {}]]);
    expect(await callsOf(lists, 'tool_calls', ['weather'])).toEqual([['c1', 'weather', {}]]);
    expect(await callsOf(lists, 'tool_calls', ['other'])).toEqual([['c1', 'get_weather', {}]]);
  });

  test('B11: several objects back to back stay text', async () => {
    const text = '{"query":"a"}{"query":"b"}{"query":"c"}';
    expect(await callsOf([[T(0, 'c1', 'search', text)]])).toEqual([['c1', 'search', text]]);
  });

  test('B13: a leading {} with more behind it is a placeholder', async () => {
    const lists = [[T(0, 'c1', 'get_weather', '{}')], [T(0, u, u, '{"city":')], [T(0, u, u, '"Boston"}')]];
    expect(await callsOf(lists)).toEqual([['c1', 'get_weather', { city: 'Boston' }]]);
  });

  test('B14: an empty arguments delta after the start does no harm', async () => {
    expect(await callsOf([[T(0, 'c1', 'w', '')], [T(0, u, u, '')], [T(0, u, u, '{"c":1}')]])).toEqual([
      ['c1', 'w', { c: 1 }],
    ]);
  });

  test('B15: arguments that stop short stay text', async () => {
    expect(await callsOf([[T(0, 'c1', 'connect', '{"body": ')], []])).toEqual([['c1', 'connect', '{"body": ']]);
  });

  test('B34: the index is a key, not a position', async () => {
    const body = sse(
      delta({ role: 'assistant', content: 'Checking' }),
      delta({ tool_calls: [T(1, 'c1', 'jira', '')] }),
      delta({ tool_calls: [T(1, u, u, '{}')] }, 'tool_calls'),
    );
    const reply = await played({ body });
    expect(callsIn(reply)).toEqual([['c1', 'jira', {}]]);
    expect(textOf(reply.message)).toBe('Checking');
  });

  test('B40: arguments that are an object already are taken as they are', async () => {
    expect(await callsOf([[T(0, 'c1', 'write', { path: 'a.txt', n: 1 })]])).toEqual([
      ['c1', 'write', { path: 'a.txt', n: 1 }],
    ]);
  });

  test('B50: an id that two calls share is passed through', async () => {
    expect(await callsOf([[T(0, 'e:22', 'read', '{"f":"A"}')], [T(1, 'e:22', 'read', '{"f":"B"}')]])).toEqual([
      ['e:22', 'read', { f: 'A' }],
      ['e:22', 'read', { f: 'B' }],
    ]);
  });

  test('a call that grows is told piece by piece, with the index of its call', async () => {
    const body = sse(
      delta({ tool_calls: [T(3, 'c1', 'f', '{"a"')] }),
      delta({ tool_calls: [T(3, u, u, ':1}')] }, 'tool_calls'),
    );
    await using server = await startReplayServer([{ body }]);
    const { chunks } = await askStreamed(server);
    expect(chunks.slice(0, -1)).toEqual([
      { type: 'tool-input-delta', index: 0, toolName: 'f', text: '{"a"' },
      { type: 'tool-input-delta', index: 0, toolName: 'f', text: ':1}' },
    ]);
  });
});
