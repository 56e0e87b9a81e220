import { type StoreCase, commitOf, refuses, same, start, storeCase } from './store-case.ts';

export const deletionCases: readonly StoreCase[] = [
  storeCase('a deleted session is gone with history and inbox, and its id may be used again', async (bench) => {
    const { store, sessionId, agent } = bench;
    const neighbours = ['-before', '-after'].map((end) => ({ agent, sessionId: `${sessionId}${end}` }));
    const [before = bench, after = bench] = neighbours;
    await store.commit(commitOf(before, 1));
    for (const revision of [1, 2, 3]) await store.commit(commitOf(bench, revision));
    await store.commit(commitOf(after, 1));
    for (const session of [before, bench, after]) await store.post(session.sessionId, { type: 'turn.stop' });

    same(await store.delete(sessionId), true, 'deleting it');
    same(await store.delete(sessionId), false, 'deleting it again');
    same(await store.read(sessionId), undefined, 'the session');
    same(await store.history(sessionId), [], 'its history');
    same(await store.inbox(sessionId), [], 'its inbox');
    await refuses('session-conflict', 'a commit after the end', () => store.commit(commitOf(bench, 4)));

    await store.commit(commitOf(bench, 1, { messages: ['"new"'] }));
    same((await store.read(sessionId))?.messages, ['"new"'], 'the messages of the new session');
    same((await store.history(sessionId)).length, 1, 'the length of the new history');
    same(await store.inbox(sessionId), [], 'the new inbox');
    for (const session of neighbours) {
      same((await store.read(session.sessionId))?.messages, ['{"message":1}'], 'the messages of a neighbour');
      same((await store.history(session.sessionId)).length, 1, "the length of a neighbour's history");
      same((await store.inbox(session.sessionId)).length, 1, "the length of a neighbour's inbox");
    }
  }),

  storeCase('a session that took the id of a deleted one takes no commit of that one', async (bench) => {
    const { store, sessionId } = bench;
    await store.commit(commitOf(bench, 1));
    await store.delete(sessionId);
    const createdAt = start + 1;
    await store.commit(commitOf(bench, 1, { messages: ['"new"'], summary: { createdAt } }));
    const before = [await store.read(sessionId), await store.history(sessionId)];
    await refuses('session-conflict', 'the next commit of the deleted one', () => store.commit(commitOf(bench, 2)));
    same([await store.read(sessionId), await store.history(sessionId)], before, 'the new session and its history');
    await store.commit(commitOf(bench, 2, { summary: { createdAt } }));
    same((await store.read(sessionId))?.revision, 2, 'the revision of the new session');
  }),

  storeCase('sessions that were changed last before a time are deleted, and counted', async (bench) => {
    const { store, agent } = bench;
    // In 1970, where no other session lies.
    await store.deleteBefore(1_000_000);
    const id = (time: number): string => `${bench.sessionId}-${time}`;
    for (const updatedAt of [1000, 2000, 3000]) {
      const session = { agent, sessionId: id(updatedAt) };
      // Nothing but the time counts, not even that somebody is waited for.
      const status = updatedAt === 2000 ? 'waiting' : 'settled';
      await store.commit(commitOf(session, 1, { summary: { createdAt: 1, updatedAt, status, pending: 1 } }));
      await store.post(session.sessionId, { type: 'turn.stop' });
    }
    same(await store.deleteBefore(1000), 0, 'how many were changed before the first');
    same(await store.deleteBefore(3000), 2, 'how many were changed before the last');
    same(
      (await store.list({ agent })).map(({ sessionId }) => sessionId),
      [id(3000)],
      'what is left',
    );
    same(await store.read(id(1000)), undefined, 'an old session');
    same([await store.inbox(id(2000)), await store.history(id(2000))], [[], []], 'inbox and history of an old session');
    same((await store.inbox(id(3000))).length, 1, 'the inbox of the one that stays');
    same(await store.deleteBefore(1_000_000), 1, 'how many are left');
  }),

  storeCase('bounds that are no numbers are refused, and delete and list nothing', async (bench) => {
    const { store, sessionId } = bench;
    await store.commit(commitOf(bench, 1));
    // What no type allows: `Date.parse` of nonsense, and options that were read from somewhere.
    const texts = ['1', null, {}] as unknown as number[];
    for (const value of [Number.NaN, ...texts]) {
      await refuses('invalid-option', `deleteBefore ${String(value)}`, () => store.deleteBefore(value));
      await refuses('invalid-option', `changedBefore ${String(value)}`, () => store.list({ changedBefore: value }));
    }
    for (const value of [-1, 0.5, Number.NaN, Infinity, ...texts]) {
      await refuses('invalid-option', `limit ${String(value)}`, () => store.list({ limit: value }));
      await refuses('invalid-option', `offset ${String(value)}`, () => store.list({ offset: value }));
      await refuses('invalid-option', `limit ${String(value)}`, () => store.history(sessionId, { limit: value }));
      await refuses('invalid-option', `after ${String(value)}`, () => store.history(sessionId, { after: value }));
    }
    same((await store.read(sessionId))?.revision, 1, 'the session');
  }),
];
