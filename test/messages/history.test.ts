import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openCalls, repairHistory } from '../../src/messages/history.ts';
import type { Message } from '../../src/messages/message.ts';
import { textOf } from '../../src/messages/message.ts';
import { isAcceptable, violations } from '../../src/messages/violations.ts';
import { anyMessages, deepFreeze } from './arbitrary-history.ts';
import { answers, asks, call, outline, result, says, user } from './short.ts';

const repaired = (...messages: Message[]) => outline(repairHistory(deepFreeze(messages)));

const whole: Message[] = [
  user('go'),
  asks(call('c1'), call('c2')),
  answers(result('c1'), result('c2')),
  says('done'),
  user('next'),
];

describe('repairHistory', () => {
  test('R6: a whole history comes back with the same messages, in a new array', () => {
    const back = repairHistory(whole);
    expect(back).not.toBe(whole);
    expect(back.every((message, index) => message === whole[index])).toBe(true);
  });

  test('R6: what needs no repair is the same object also where something else does', () => {
    const back = repairHistory([...whole, asks(call('c3'))]);
    expect(whole.every((message, index) => message === back[index])).toBe(true);
    expect(outline(back.slice(5))).toBe('a(c3) t(c3=error-text)');
  });

  test('B68: calls of a stopped run get "interrupted, outcome unknown", before the next user message', () => {
    const history = [user('go'), asks(call('c1'), call('c2'), call('c3')), answers(result('c1')), user('continue')];
    expect(repaired(...history)).toBe('u:go a(c1,c2,c3) t(c1=c1,c2=error-text,c3=error-text) u:continue');
    expect(JSON.stringify(repairHistory(history)[2])).toMatch(/interrupted.*outcome is unknown/);
  });

  test('B69: results whose assistant message is gone are dropped', () => {
    expect(repaired(user('go'), answers(result('c1')), user('continue'))).toBe('u:go u:continue');
    expect(repaired(answers(result('c1')), asks(call('c1')))).toBe('a(c1) t(c1=error-text)');
  });

  test('B73: a call without a result in the middle is repaired', () => {
    expect(repaired(user('a'), asks(call('c1')), says('hm'), user('b'))).toBe('u:a a(c1) t(c1=error-text) a:hm u:b');
  });

  test('B78: a user message between a call and its result comes after it', () => {
    expect(repaired(asks(call('c1'), call('c2')), answers(result('c2')), user('stop'), answers(result('c1')))).toBe(
      'a(c1,c2) t(c1=c1,c2=c2) u:stop',
    );
  });

  test('R6: results in another order are put in call order, a second result is dropped', () => {
    const given = answers(result('c2'), result('c1'), result('c1', 'again'));
    expect(repaired(asks(call('c1'), call('c2')), given)).toBe('a(c1,c2) t(c1=c1,c2=c2)');
  });

  test('R6: a tool message keeps its options when results are gathered into it', () => {
    const given: Message = { ...answers(result('c1')), providerOptions: { anthropic: { cache: true } } };
    const back = repairHistory([asks(call('c1'), call('c2')), given, answers(result('c2'))]);
    expect(back[1]).toEqual({ ...given, content: [result('c1'), result('c2')] });
  });

  test('R8, B51: an id of an earlier round is renamed with its result, and kept as the providers id', () => {
    const history = [asks(call('c1')), answers(result('c1', 'one')), asks(call('c1')), answers(result('c1', 'two'))];
    expect(repaired(...history)).toBe('a(c1) t(c1=one) a(c1_2) t(c1_2=two)');
    expect(repairHistory(history)[2]).toEqual(asks(call('c1_2', 'c1')));
  });

  test('R8, B50: two calls of one reply with one id are two calls, results in order', () => {
    expect(repaired(asks(call('e'), call('e')), answers(result('e', 'A'), result('e', 'B')))).toBe(
      'a(e,e_2) t(e=A,e_2=B)',
    );
  });

  test('R8: a call without an id gets one, and no id of a provider is made up', () => {
    const back = repairHistory([asks(call(''))]);
    expect(back[0]).toEqual(asks(call('call')));
  });

  test('R8: a rename never takes an id that comes later, and keeps a known id of the provider', () => {
    const back = repairHistory([
      asks(call('c1')),
      answers(result('c1')),
      asks(call('c1', 'p')),
      answers(result('c1')),
      asks(call('c1_2')),
      answers(result('c1_2')),
    ]);
    expect(outline(back)).toBe('a(c1) t(c1=c1) a(c1_3) t(c1_3=c1) a(c1_2) t(c1_2=c1_2)');
    expect(back[2]).toEqual(asks(call('c1_3', 'p')));
  });

  test('R8: new ids come from newId where it is given', () => {
    let count = 0;
    const back = repairHistory([asks(call('a'), call('a'), call(''))], { newId: () => `n${++count}` });
    expect(outline(back.slice(0, 1))).toBe('a(a,n1,n2)');
  });

  test('R9: calls that the provider ran stay with their results', () => {
    const run = asks(call('s', undefined, { providerExecuted: true }), result('s'), call('c1'));
    expect(repaired(run)).toBe('a(s,s=s,c1) t(c1=error-text)');
    const bare = [asks(call('s'), result('s')), says('found')];
    expect(repairHistory(bare)).toEqual(bare);
    const pending = [asks(call('s', undefined, { providerExecuted: true })), asks(result('s'))];
    expect(repairHistory(pending)).toEqual(pending);
  });

  test('R9: the result of a call that the provider ran is moved to it from a tool message', () => {
    const run = asks(call('s', undefined, { providerExecuted: true }), call('c1'));
    expect(repaired(run, answers(result('c1'), result('s')))).toBe('a(s,s=s,c1) t(c1=c1)');
  });

  test('empty messages are dropped', () => {
    expect(repaired(says(''), user('a'), answers(), { role: 'assistant', content: [] })).toBe('u:a');
  });

  test('R6: any list of messages becomes a history without violations; nothing is mutated', () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        expect(violations(repairHistory(deepFreeze(messages)))).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });

  test('repairing twice is repairing once', () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        const once = repairHistory(messages);
        const twice = repairHistory(once);
        expect(twice.every((message, index) => message === once[index])).toBe(true);
        expect(twice.length).toBe(once.length);
      }),
      { numRuns: 1000 },
    );
  });

  test('R34: all text of users and of the assistant stays, in order', () => {
    const said = (messages: readonly Message[]) =>
      messages.flatMap((message) => (message.role === 'tool' ? [] : textOf(message))).join('');
    fc.assert(
      fc.property(anyMessages, (messages) => {
        expect(said(repairHistory(messages))).toBe(said(messages));
      }),
      { numRuns: 1000 },
    );
  });

  test('every call stays, with its input', () => {
    const inputs = (messages: readonly Message[]) =>
      messages
        .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
        .flatMap((part) => (part.type === 'tool-call' ? [part.input] : []));
    fc.assert(
      fc.property(anyMessages, (messages) => {
        expect(inputs(repairHistory(messages))).toEqual(inputs(messages));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('openCalls', () => {
  test('are the calls of the last assistant message that have no result', () => {
    const asked = asks(call('c1'), call('c2'), call('s', undefined, { providerExecuted: true }));
    expect(openCalls([user('go'), asked]).map((part) => part.toolCallId)).toEqual(['c1', 'c2']);
    expect(openCalls([asked, answers(result('c1'))])).toEqual([call('c2')]);
    expect(openCalls([asked, answers(result('c1')), answers(result('c2'))])).toEqual([]);
  });

  test('are none where something else was said since', () => {
    expect(openCalls([asks(call('c1')), user('next')])).toEqual([]);
    expect(openCalls([])).toEqual([]);
    expect(openCalls([user('go'), says('done')])).toEqual([]);
  });
});

describe('violations', () => {
  test.each([
    ['a call without its result', [asks(call('c1'))], /messages\[1\]: call "c1" has no result/],
    ['a message before the result', [asks(call('c1')), user('x'), answers(result('c1'))], /between call "c1" and its/],
    ['a result without its call', [answers(result('c1'))], /results without a call/],
    ['two results', [asks(call('c1')), answers(result('c1'), result('c1'))], /results without a call/],
    [
      'two tool messages',
      [asks(call('a'), call('b')), answers(result('a')), answers(result('b'))],
      /"b" has no result/,
    ],
    ['another order', [asks(call('a'), call('b')), answers(result('b'), result('a'))], /result for "b" stands where/],
    ['an id twice', [asks(call('a')), answers(result('a')), asks(call('a')), answers(result('a'))], /two calls have/],
    ['no id', [asks(call('')), answers(result(''))], /no id/],
    ['another tool', [asks(call('a')), answers({ ...result('a'), toolName: 'x' })], /names the tool "x"/],
    ['an inner result without a call', [asks(result('a'))], /result "a" has no call/],
    ['an empty message', [says('')], /the assistant message is empty/],
  ])('R6: %s is named', (_name, messages, sentence) => {
    expect(violations(messages).join('\n')).toMatch(sentence);
    expect(isAcceptable(messages)).toBe(false);
  });

  test('R6: a whole history has none', () => {
    expect(violations(whole)).toEqual([]);
    expect(isAcceptable([])).toBe(true);
  });
});
