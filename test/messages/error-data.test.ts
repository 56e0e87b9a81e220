import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createAgent } from '../../src/index.ts';
import { errorData } from '../../src/errors.ts';
import { rejection } from '../support/sessions.ts';

const odd: [string, unknown, object][] = [
  [
    'a plain object',
    { message: 'no rows', code: 'P01', status: 500 },
    { message: 'no rows', code: 'P01', status: 500 },
  ],
  ['one without a name', { message: 'no' }, { name: 'Error', message: 'no' }],
  ['one with a cause', { message: 'no', cause: { message: 'why' } }, { cause: { name: 'Error', message: 'why' } }],
  ['an error of another realm', runInNewContext("new TypeError('far')"), { name: 'TypeError', message: 'far' }],
  ['a message that is none', { message: 5 }, { name: 'Error', message: '[object Object]' }],
  ['text', 'plain words', { name: 'Error', message: 'plain words' }],
  [
    'a getter that throws',
    {
      get message(): string {
        throw new Error('no');
      },
    },
    { name: 'Error', message: 'unprintable error' },
  ],
];

test.each(odd)('R16: what is thrown keeps its words: %s', async (_name, thrown, told) => {
  expect(errorData(thrown)).toMatchObject(told);
  const model = { name: 'odd', generate: () => Promise.reject(thrown as Error) };
  const { message = '' } = told as { message?: string };
  expect((await rejection(createAgent({ model }).run('hi'))).message).toContain(message);
});
