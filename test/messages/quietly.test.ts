import { expect, it } from 'vitest';
import { quietly } from '../../src/messages/quietly.ts';

const fail = (word: string) => () => {
  throw new Error(word);
};

it('what a listener throws, and what his promise rejects with, goes to onFailure and nowhere else', async () => {
  const heard: unknown[] = [];
  const both = Promise.withResolvers<void>();
  const note = (error: unknown): void => {
    heard.push(error);
    if (heard.length === 2) both.resolve();
    // A listener for failures may fail too.
    throw new Error('nobody listens');
  };
  quietly(fail('thrown'), note);
  quietly(async () => fail('rejected')(), note);
  quietly(fail('lost'));
  quietly(async () => fail('lost')());
  quietly(() => 'nothing to tell', note);
  await both.promise;
  expect(heard.map(String)).toEqual(['Error: thrown', 'Error: rejected']);
});
