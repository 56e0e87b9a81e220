import type { SessionStore } from '../stores/store.ts';
import { type Bench, type StoreCase, commitOf, same, storeCase } from './store-case.ts';

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** Commits as often as it can until the session has so many revisions; gives the revisions that it made. */
const race = async (store: SessionStore, bench: Bench, name: string, until: number): Promise<number[]> => {
  const made: number[] = [];
  for (let next = 1; next <= until;) {
    const texts = { state: `"${name}"`, messages: [`"${name} ${next} a"`, `"${name} ${next} b"`] };
    const transitions = [{ from: name, to: `${next}`, event: 'race' }];
    try {
      await store.commit(commitOf(bench, next, { ...texts, transitions, summary: { messages: next * 2 } }));
      made.push(next);
      next += 1;
    } catch (error) {
      same(codeOf(error), 'session-conflict', 'the code of the error that the loser gets');
      const [summary] = await store.list({ agent: bench.agent });
      next = (summary?.revision ?? 0) + 1;
    }
  }
  return made;
};

export const raceCases: readonly StoreCase[] = [
  storeCase('of two store objects that race for 1,000 commits none loses or mixes one', async (bench) => {
    const { store, sessionId } = bench;
    const count = 1000;
    const racers = { one: store, two: await bench.another() };
    const made = await Promise.all(
      Object.entries(racers).map(async ([name, racer]) => ({ name, made: await race(racer, bench, name, count) })),
    );
    const winners = made.flatMap(({ name, made: revisions }) => revisions.map((revision) => ({ name, revision })));
    const inOrder = winners.toSorted((a, b) => a.revision - b.revision);
    same(
      inOrder.map(({ revision }) => revision),
      Array.from({ length: count }, (_, index) => index + 1),
      'the revisions',
    );
    const session = await store.read(sessionId);
    same(session?.summary.revision, count, 'the last revision');
    same(
      session?.messages,
      inOrder.flatMap(({ name, revision }) => [`"${name} ${revision} a"`, `"${name} ${revision} b"`]),
      'the messages',
    );
    same(
      (await store.history(sessionId)).map(({ from, revision }) => ({ name: from, revision })),
      inOrder,
      'the history',
    );
  }),

  storeCase('of many that begin one session at once, one does', async (bench) => {
    const other = await bench.another();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? bench.store : other).commit(commitOf(bench, 1, { messages: [`${index}`] })),
      ),
    );
    const winners = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [`${index}`] : []));
    same(winners.length, 1, 'how many began it');
    const codes = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [codeOf(outcome.reason)] : []));
    same(
      codes,
      Array.from({ length: 9 }, () => 'session-conflict'),
      'the codes of the errors that the others get',
    );
    same((await bench.store.read(bench.sessionId))?.messages, winners, 'the messages');
  }),

  storeCase('what one store object writes the other reads, refuses and deletes', async (bench) => {
    const { store, sessionId } = bench;
    const other = await bench.another();
    await store.commit(commitOf(bench, 1));
    same(await other.read(sessionId), await store.read(sessionId), 'the session');
    const id = await other.post(sessionId, { type: 'turn.stop' });
    same(
      (await store.inbox(sessionId)).map((command) => command.id),
      [id],
      'the inbox',
    );
    same(await other.delete(sessionId), true, 'deleting it');
    const refused = await store.commit(commitOf(bench, 2)).then(() => undefined, codeOf);
    same(refused, 'session-conflict', 'a commit to what the other has deleted');
  }),
];
