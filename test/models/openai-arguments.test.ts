import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/messages/message.ts';
import { completion, startReplayServer, wholeCall } from '../support/replay-server.ts';
import { ask, callsIn } from './ask.ts';
import { calling, callingAll, messagesOf, result, round, user } from './sent.ts';

describe('calls of whole replies', () => {
  const callsFor = async (...calls: unknown[]) => {
    await using server = await startReplayServer([{ json: completion({ content: null, tool_calls: calls }) }]);
    return callsIn(await ask(server));
  };

  test.each([[''], ['  ']])('B38: arguments %j are handed on as they are', async (text) => {
    expect(await callsFor(wholeCall('c1', 'now', text))).toEqual([['c1', 'now', text]]);
  });

  test('B40: arguments that are an object are that object', async () => {
    expect(await callsFor(wholeCall('c1', 'write', { path: 'a.txt', n: 1 }))).toEqual([
      ['c1', 'write', { path: 'a.txt', n: 1 }],
    ]);
  });

  test('B41, B42: nothing is decoded twice, nothing is cut out of prose', async () => {
    const texts = ['"{\\"q\\":1}"', '```json\n{"path":"a.txt"}\n```', '{"path":"a.txt"} trailing', '[1]', 'null'];
    expect(await callsFor(...texts.map((text, at) => wholeCall(`c${at}`, 'f', text)))).toEqual(
      texts.map((text, at) => [`c${at}`, 'f', text]),
    );
    expect(await callsFor(wholeCall('c', 'f', '{"text":"[1,2]"}'))).toEqual([['c', 'f', { text: '[1,2]' }]]);
  });

  test('B45: a call with unreadable arguments is still a call', async () => {
    expect(await callsFor(wholeCall('c1', 'f', '{"a":'))).toEqual([['c1', 'f', '{"a":']]);
  });

  test('B47, B48: names are handed on as they came', async () => {
    const names = ['nope', 'functions.bash', 'bash<|channel|>commentary', ' bash', 'Bash'];
    const calls = await callsFor(...names.map((name, at) => wholeCall(`c${at}`, name, '{}')));
    expect(calls.map(([, name]) => name)).toEqual(names);
  });

  test('B50: two calls with one id, and two without an id or index, are two calls', async () => {
    const pair = [wholeCall('e:22', 'read', '{"f":"A"}'), wholeCall('e:22', 'read', '{"f":"B"}')];
    expect(await callsFor(...pair)).toEqual([
      ['e:22', 'read', { f: 'A' }],
      ['e:22', 'read', { f: 'B' }],
    ]);
    expect(await callsFor(wholeCall(undefined, 'f', ''), wholeCall(undefined, 'f', ''))).toHaveLength(2);
  });
});

describe('arguments and names that go out', () => {
  const argumentsOf = async (input: unknown): Promise<unknown> => {
    const messages = await messagesOf(round(input));
    return JSON.parse(JSON.stringify(messages))[1].tool_calls[0].function.arguments;
  };

  test.each([
    ['B40: an object', { path: 'a.txt', n: 1 }, '{"path":"a.txt","n":1}'],
    ['B44: unreadable text', '{"cmd":"a\\vb"}', '{"unreadable_arguments":"{\\"cmd\\":\\"a\\\\vb\\"}"}'],
    ['B45: text that stops short', '{"a":', '{"unreadable_arguments":"{\\"a\\":"}'],
    ['B11: several objects', '{"a":1}{"b":2}', '{"unreadable_arguments":"{\\"a\\":1}{\\"b\\":2}"}'],
    ['text that is an object', ' {"a": 1}', '{"a":1}'],
    ['B38: no text', '', '{}'],
    ['null', 'null', '{}'],
    ['a list', [1], '{"unreadable_arguments":[1]}'],
  ])('%s goes out as the text of an object', async (_name, input, text) => {
    expect(await argumentsOf(input)).toBe(text);
  });

  test('B48: a name that providers refuse goes out in a form that they take', async () => {
    const messages = [user, calling({}, 'c1', 'bash<|channel|>x y'), result({ type: 'text', value: '' }), user];
    expect(await messagesOf(messages)).toMatchObject([
      {},
      { tool_calls: [{ function: { name: 'bash__channel__x_y' } }] },
      {},
      {},
    ]);
  });

  test('an empty id gets one, the same for the call and its result; other ids go out as they are', async () => {
    const messages: Message[] = [
      user,
      callingAll('', 'x', ''),
      {
        role: 'tool',
        content: ['', 'x', ''].map((toolCallId, at) => ({
          type: 'tool-result',
          toolCallId,
          toolName: 'f',
          output: { type: 'text', value: String(at) },
        })),
      },
    ];
    expect(await messagesOf(messages)).toMatchObject([
      {},
      { tool_calls: [{ id: 'call_1_0' }, { id: 'x' }, { id: 'call_1_2' }] },
      { tool_call_id: 'call_1_0', content: '0' },
      { tool_call_id: 'x', content: '1' },
      { tool_call_id: 'call_1_2', content: '2' },
    ]);
  });

  test('B139: no lone surrogate goes out, from a result, a text or arguments', async () => {
    const messages: Message[] = [
      { role: 'user', content: 'cut \ud83c' },
      calling('{"d":"\\ud99c x"}'),
      result({ type: 'json', value: { a: 'a\ud83d', ok: '🎉' } }),
      calling({ d: '\ud99c x' }, 'c2'),
      result({ type: 'content', value: [{ type: 'text', text: '\udc00' }] }, 'c2'),
    ];
    const out = await messagesOf(messages, { instructions: '\ud83c' });
    expect(JSON.stringify(out)).toContain('🎉');
  });
});
