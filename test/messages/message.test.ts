import { expect, test } from 'vitest';
import { callsOf, partsOf, textOf } from '../../src/messages/message.ts';
import { answers, asks, call, result, says, user } from './short.ts';

test('partsOf: a string is one text part, an empty string none', () => {
  expect(partsOf(user('a'))).toEqual([{ type: 'text', text: 'a' }]);
  expect(partsOf(says(''))).toEqual([]);
  expect(partsOf(answers(result('c1')))).toEqual([result('c1')]);
});

test('textOf: the text parts joined, without reasoning and calls', () => {
  expect(textOf(says('a'))).toBe('a');
  expect(
    textOf({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'a' },
        call('c1'),
        { type: 'text', text: 'b' },
      ],
    }),
  ).toBe('ab');
});

test('R9: callsOf leaves out what the provider has run', () => {
  const message = asks(call('c1'), call('s', undefined, { providerExecuted: true }), call('w'), result('w'));
  expect(callsOf(message)).toEqual([call('c1')]);
  expect(callsOf(says('x'))).toEqual([]);
});
