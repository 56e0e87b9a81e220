import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Log, appended, chunksAfter, emptyLog, textsAfter } from '../../src/restate/log.ts';
import type { Commit } from '../../src/stores/store.ts';

const commitOf = (revision: number, given: { isWhole: boolean; length: number; messages: number[] }): Commit => ({
  summary: {
    sessionId: 's',
    agent: 'agent',
    machineVersion: 2,
    status: 'busy',
    pending: 0,
    messages: 0,
    revision,
    createdAt: 0,
    updatedAt: 0,
  },
  state: `${revision}:`.padEnd(given.length, 's'),
  isWhole: revision === 1 || given.isWhole,
  messages: given.messages.map((length, index) => `${revision}.${index}:`.padEnd(length, 'm')),
  transitions: [],
  taken: [],
  refused: [],
});

const size = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 4_000, max: 9_000 }));
const step = fc.record({
  isWhole: fc.boolean(),
  length: size,
  messages: fc.array(size, { maxLength: 3 }),
});

test('whatever was committed is read whole, from any point that somebody had reached', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 }), (steps) => {
      let log: Log = emptyLog;
      const chunks = new Map<string, string[]>();
      const commits: Commit[] = [];
      const reached = [{ revision: 0, messages: 0 }];
      for (const given of steps) {
        const added = given.map((each, index) => commitOf(commits.length + index + 1, each));
        commits.push(...added);
        const { cleared, sealed, log: next } = appended(log, added);
        for (const key of cleared) chunks.delete(key);
        for (const [key, chunk] of Object.entries(sealed)) chunks.set(key, chunk);
        log = next;
        reached.push({ revision: commits.length, messages: commits.flatMap(({ messages }) => messages).length });
      }
      const whole = commits.findLastIndex(({ isWhole }) => isWhole);
      const messages = commits.flatMap((commit) => commit.messages);
      for (const since of reached) {
        const wanted = chunksAfter(log, since);
        const found = Object.fromEntries(wanted.map((key) => [key, chunks.get(key) ?? []]));
        const isWhole = since.revision <= whole;
        expect(textsAfter(log, since, found)).toEqual({
          isWhole,
          states: commits.slice(isWhole ? whole : since.revision).map(({ state }) => state),
          messages: messages.slice(since.messages),
        });
        if (wanted.length > 0) expect(textsAfter(log, since, {})).toBeUndefined();
      }
    }),
  );
});

test('what is read and written with a step is as much in a long session as in a short one', () => {
  let log: Log = emptyLog;
  const written: number[] = [];
  for (let revision = 1; revision <= 3_000; revision += 1) {
    const next = appended(log, [commitOf(revision, { isWhole: revision % 500 === 0, length: 300, messages: [400] })]);
    log = next.log;
    written.push(JSON.stringify(log.states).length + JSON.stringify(log.messages).length);
  }
  expect(Math.max(...written.slice(2_000))).toBeLessThanOrEqual(Math.max(...written.slice(0, 100)) + 600);
  expect(log.messageEnds.length).toBeLessThan(200);
});
