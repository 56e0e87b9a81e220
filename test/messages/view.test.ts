import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { repairHistory } from '../../src/messages/history.ts';
import type { Message } from '../../src/messages/message.ts';
import { createViewer, viewOf } from '../../src/messages/view.ts';
import { strictRefusals } from '../support/strict-history.ts';
import { anyMessages, deepFreeze } from './arbitrary-history.ts';
import { answers, asks, call, outline, result, says, user } from './short.ts';

const seen = (...messages: Message[]) => outline(viewOf(deepFreeze(messages)));
const inputSeen = (input: unknown) => {
  const [message] = viewOf([asks(call('c1', undefined, { input }))]);
  const part = message?.content[0];
  return typeof part === 'object' && part.type === 'tool-call' ? part.input : undefined;
};

describe('viewOf', () => {
  test('R8: calls and results carry the id of the provider, ours where there is none', () => {
    expect(seen(asks(call('o1', 'p1'), call('o2')), answers(result('o1'), result('o2')))).toBe(
      'a(p1,o2) t(p1=o1,o2=o2)',
    );
  });

  test('B50: one id for two calls of a reply goes out as two, each with its own result', () => {
    expect(seen(asks(call('o1', 'e'), call('o2', 'e')), answers(result('o1'), result('o2')))).toBe(
      'a(e,e_2) t(e=o1,e_2=o2)',
    );
  });

  test('B51: ids that repeat in later rounds are paired with their own results', () => {
    expect(
      seen(
        asks(call('o1', 'call_0')),
        answers(result('o1')),
        asks(call('o2', 'call_0')),
        answers(result('o2')),
        asks(call('o3', 'call_0')),
        answers(result('o3')),
      ),
    ).toBe('a(call_0) t(call_0=o1) a(call_0_2) t(call_0_2=o2) a(call_0_3) t(call_0_3=o3)');
  });

  test('B51: also where our own ids repeat, a result belongs to the call next before it', () => {
    expect(
      seen(
        asks(call('c', 'p')),
        answers(result('c', '1')),
        asks(call('c', 'q'), call('c', 'q')),
        answers(result('c', '2'), result('c', '3')),
      ),
    ).toBe('a(p) t(p=1) a(q,q_2) t(q=2,q_2=3)');
  });

  test('R8: a suffix never meets another id, before or after it', () => {
    const results = answers(result('o1'), result('o2'), result('o3'), result('o4'));
    expect(seen(asks(call('o1', 'a_2'), call('o2', 'a'), call('o3', 'a'), call('o4', 'a_3')), results)).toBe(
      'a(a_2,a,a_3,a_3_2) t(a_2=o1,a=o2,a_3=o3,a_3_2=o4)',
    );
  });

  test('R44: our key stays here, the fields of a provider go out', () => {
    const part = call('o1', 'p1', { providerOptions: { agentchart: { providerCallId: 'p1' }, openai: { id: 'x' } } });
    const [first, , last] = viewOf([
      { ...asks(part), providerOptions: { agentchart: { a: 1 } } },
      answers(result('o1')),
      { role: 'user', content: 'hi', providerOptions: { openai: { b: 2 }, agentchart: {} } },
    ]);
    expect(first).toEqual(asks(call('p1', undefined, { providerOptions: { openai: { id: 'x' } } })));
    expect(last).toEqual({ role: 'user', content: 'hi', providerOptions: { openai: { b: 2 } } });
  });

  test('R17: arguments that could not be read go back as an object that says so', () => {
    expect(inputSeen('{"path": ')).toEqual({ unreadable_arguments: '{"path": ' });
    expect(inputSeen([1])).toEqual({ unreadable_arguments: '[1]' });
    for (const nothing of ['', 'null', ' \n', null, undefined]) expect(inputSeen(nothing)).toEqual({});
    expect(inputSeen({ a: 1 })).toEqual({ a: 1 });
  });

  test('B139: lone surrogates are replaced in texts, results, nested inputs and keys', () => {
    const view = viewOf([
      user('a\ud83d'),
      asks(call('c\ud83d', undefined, { input: { d: ['\ud99c x', { 'k\udc00': '🎉' }] } })),
      answers(result('c\ud83d', '12\udf89tail')),
    ]);
    expect(view[0]?.content).toBe('a\ufffd');
    expect(view[1]).toMatchObject({
      content: [{ toolCallId: 'c\ufffd', input: { d: ['\ufffd x', { 'k\ufffd': '🎉' }] } }],
    });
    expect(view[2]).toMatchObject({ content: [{ toolCallId: 'c\ufffd', output: { value: '12\ufffdtail' } }] });
    expect(strictRefusals(view)).toEqual([]);
  });

  test('a __proto__ key in an input is data', () => {
    const input: unknown = JSON.parse('{"__proto__":{"admin":"\\ud83d"}}');
    const out = inputSeen(input);
    expect(JSON.stringify(out)).toBe('{"__proto__":{"admin":"\ufffd"}}');
    expect(Object.getPrototypeOf(out)).toBe(Object.prototype);
  });

  test('empty text is left out, and with it a message that holds nothing else', () => {
    const empty = { type: 'text', text: '' } as const;
    const view = viewOf([
      user('a'),
      says(''),
      { role: 'assistant', content: [empty] },
      { role: 'assistant', content: [empty, call('c1')] },
      answers(result('c1')),
    ]);
    expect(outline(view)).toBe('u:a a(c1) t(c1=c1)');
  });

  test('R44: an empty text that carries a field of a provider is kept', () => {
    const signed: Message = {
      role: 'assistant',
      content: [{ type: 'text', text: '', providerOptions: { google: { thoughtSignature: 's' } } }],
    };
    expect(viewOf([signed])).toEqual([signed]);
  });

  test('R48: what needs no change is equal and shares nothing with the history; an earlier view stays the same objects', () => {
    const history = [
      user('a'),
      asks(call('o1', 'p')),
      answers(result('o1')),
      asks(call('o2', 'p')),
      answers(result('o2')),
    ];
    const view = createViewer();
    const first = view(history);
    const second = view([...history, says('b')]);
    expect(first[0]).toEqual(history[0]);
    for (const [index, message] of first.entries()) {
      expect(message).not.toBe(history[index]);
      if (typeof message.content !== 'string') expect(message.content[0]).not.toBe(history[index]?.content[0]);
    }
    expect(first.every((message, index) => message === second[index])).toBe(true);
  });

  test('R8: one message in two histories gets the ids of each', () => {
    const shared = [asks(call('o1', 'p')), answers(result('o1'))];
    const before = [asks(call('o0', 'p')), answers(result('o0'))];
    expect(seen(...shared)).toBe('a(p) t(p=o1)');
    expect(seen(...before, ...shared)).toBe('a(p) t(p=o0) a(p_2) t(p_2=o1)');
    expect(seen(...shared)).toBe('a(p) t(p=o1)');
  });

  test('R6: the view of a repaired history is one that a strict provider takes', () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        expect(strictRefusals(viewOf(repairHistory(deepFreeze(messages))))).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });

  test('R2: it takes any list of frozen messages, and a second look sees the same', () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        const before = JSON.stringify(messages);
        expect(viewOf(deepFreeze(messages))).toEqual(viewOf(structuredClone(messages)));
        expect(JSON.stringify(messages)).toBe(before);
      }),
      { numRuns: 1000 },
    );
  });

  test('after one more message, a view of 1,000 makes that message alone anew', () => {
    const history = Array.from({ length: 250 }, (_, round) => [
      user(`question ${round}`),
      asks(call(`o${round}`, 'call_0', { input: { path: `/tmp/${round}`, options: { deep: [1, 2, 3] } } })),
      answers(result(`o${round}`, 'x'.repeat(200))),
      says('answer'),
    ]).flat();
    const view = createViewer();
    const before = view(history);
    const after = view([...history, user('more')]);
    expect(after).toHaveLength(before.length + 1);
    expect(after.every((message, index) => index === before.length || message === before[index])).toBe(true);
  });

  test('a long history that grows has the view that it would have if it were new', () => {
    const history: Message[] = [user('hi')];
    const view = createViewer();
    for (let round = 0; round < 60; round += 1) {
      history.push(asks(call('c', round % 3 === 0 ? 'p' : undefined)), answers(result('c', String(round))));
      const grown = view([...history]);
      expect(grown).toEqual(viewOf(structuredClone(history)));
      grown.length = 0;
    }
    const cut = history.slice(0, 80);
    expect(view([...cut, user('something else')])).toEqual(viewOf(structuredClone([...cut, user('something else')])));
    expect(view(history)).toEqual(viewOf(structuredClone(history)));
  });
});
