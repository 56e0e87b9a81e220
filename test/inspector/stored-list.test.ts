import { expect, test } from 'vitest';
import { type StoredList, withNewest, withOlder } from '../../src/inspector/page/stored-list.ts';

/** Sessions of a store, numbered in the order of their change, from the newest down. */
const from = (first: number, count: number) =>
  Array.from({ length: Math.min(first, count) }, (_, index) => ({
    id: `s${first - index}`,
    agent: 'a',
    changedAt: first - index,
    revision: 1,
    status: 'idle',
    pending: 0,
  }));

const none: StoredList = { sessions: [], hasOlder: false };
const idsOf = ({ sessions }: StoredList): string[] => sessions.map(({ id }) => id);

test('sessions that begin while one reads through the list push none out of it', () => {
  let list = withNewest(none, from(500, 200));
  list = withNewest(list, from(501, 200));
  list = withOlder(list, from(501 - 201, 200));
  list = withNewest(list, from(503, 200));
  list = withOlder(list, from(503 - 403, 200));
  expect(idsOf(list)).toEqual(idsOf({ sessions: from(503, 503), hasOlder: false }));
  expect(list.hasOlder).toBe(false);
});

test('older ones are offered until all are listed', () => {
  let list = withNewest(none, from(401, 200));
  expect(list.hasOlder).toBe(true);
  // One began between the look and the question, so one comes twice.
  list = withNewest(withOlder(list, from(202, 200)), from(402, 200));
  expect(list.hasOlder).toBe(true);
  expect(withOlder(list, from(402 - list.sessions.length, 200)).hasOlder).toBe(false);
  expect(withNewest(none, from(7, 200)).hasOlder).toBe(false);
});

test('what was deleted goes, and after a long time away the list begins anew', () => {
  const [gone, ...rest] = from(300, 200);
  const list = withNewest({ sessions: from(300, 250), hasOlder: true }, [...rest, ...from(100, 1)]);
  expect(idsOf(list)).not.toContain(gone?.id);
  expect(withNewest(list, from(900, 200))).toEqual({ sessions: from(900, 200), hasOlder: true });
});
