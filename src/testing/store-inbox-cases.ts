import { type StoreCase, commitOf, refuses, same, start, storeCase } from './store-case.ts';

const longestWait = 10_000;

/** Resolves with the notice; rejects where there is none for ten seconds. */
const noticed = async (watching: Promise<void>, what: string): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no notice within ${longestWait} ms`)), longestWait);
  });
  try {
    await Promise.race([watching, late]);
  } finally {
    clearTimeout(timer);
  }
};

export const inboxCases: readonly StoreCase[] = [
  storeCase('commands wait in order until a commit takes them, and change nothing else', async (bench) => {
    const { store, sessionId } = bench;
    await store.commit(commitOf(bench, 1));
    const before = await store.read(sessionId);
    const events = [
      { type: 'approval.granted', callId: 'c1', input: { path: '👩‍🚀 \u0000' } },
      { type: 'user.message', content: 'hello' },
      { type: 'turn.stop', reason: '"' },
    ] as const;
    const ids: number[] = [];
    for (const event of events) ids.push(await store.post(sessionId, event));
    const [first = 0, second = 0, third = 0] = ids;
    same(
      ids,
      [first, second, third].toSorted((a, b) => a - b),
      'ids that grow',
    );
    const inbox = await store.inbox(sessionId);
    same(
      inbox.map(({ id, event }) => ({ id, event })),
      events.map((event, index) => ({ id: ids[index], event })),
      'the inbox',
    );
    same(
      inbox.every(({ at }) => Number.isSafeInteger(at) && at > start),
      true,
      'that each command has its time',
    );
    same(await store.read(sessionId), before, 'the session');
    await store.commit(commitOf(bench, 2, { taken: [first, third] }));
    same(
      (await store.inbox(sessionId)).map(({ id }) => id),
      [second],
      'what is left',
    );
    await store.commit(commitOf(bench, 3, { taken: [second] }));
    same(await store.inbox(sessionId), [], 'the emptied inbox');
    const next = await store.post(sessionId, { type: 'turn.retry' });
    same(next > third, true, 'that an id is not given again');
    const last = await store.lastCommand?.();
    if (last !== undefined) same(last, next, 'the last command');
    const later = await store.post(sessionId, { type: 'turn.retry' });
    if (last !== undefined) same(await store.lastCommand?.(), later, 'the last command after one more');
  }),

  storeCase(
    'a command that is refused leaves the inbox with its commit, and is kept with the reason',
    async (bench) => {
      const { store, sessionId, agent } = bench;
      const other = { agent, sessionId: `${sessionId}-other` };
      await store.commit(commitOf(bench, 1));
      await store.commit(commitOf(other, 1));
      const events = [
        { type: 'approval.granted', callId: 'c1', input: { path: '👩‍🚀 \u0000' } },
        { type: 'turn.retry' },
        { type: 'turn.stop', reason: '"' },
      ] as const;
      const ids: number[] = [];
      for (const event of events) ids.push(await store.post(sessionId, event));
      const [first = 0, second = 0, third = 0] = ids;
      const refusal = (id: number) => ({ id, code: 'call-settled', message: 'too late: \u0000 "👩‍🚀" $1' });
      const numbers = async (read: Promise<{ id: number }[]>): Promise<number[]> => (await read).map(({ id }) => id);
      await refuses('session-conflict', 'a commit that comes too late', () =>
        store.commit(commitOf(bench, 1, { refused: [refusal(first)] })),
      );
      await store.commit(commitOf(other, 2, { refused: [refusal(first)] }));
      same(await numbers(store.inbox(sessionId)), ids, 'the inbox after a commit that was refused, and one of another');
      same(await store.refusals(sessionId), [], 'what is refused then');
      const posted = await store.inbox(sessionId);
      await store.commit(commitOf(bench, 2, { taken: [second], refused: [refusal(third), refusal(first)] }));
      same(await store.inbox(sessionId), [], 'the emptied inbox');
      const refusedAt = commitOf(bench, 2).summary.updatedAt;
      const kept = posted
        .filter(({ id }) => id !== second)
        .map((each) => ({ ...each, ...refusal(each.id), refusedAt }));
      same(await store.refusals(sessionId), kept, 'the refusals');
      await store.commit(commitOf(bench, 3, { taken: [first], refused: [{ id: third, code: 'x', message: 'y' }] }));
      same(await (await bench.another()).refusals(sessionId), kept, 'the refusals after a later commit, elsewhere');
      same(await numbers(store.refusals(sessionId, { after: first })), [third], 'those after the first');
      same(await store.refusals(other.sessionId), [], 'those of another session');
      await refuses('invalid-option', 'after no number', () => store.refusals(sessionId, { after: -1 }));
      await store.delete(sessionId);
      same(await store.refusals(sessionId), [], 'those of a deleted session');
    },
  ),

  storeCase('a command reaches its own session only', async (bench) => {
    const { store, sessionId, agent } = bench;
    const other = { agent, sessionId: `${sessionId}-other` };
    await store.commit(commitOf(bench, 1));
    await store.commit(commitOf(other, 1));
    const id = await store.post(sessionId, { type: 'turn.stop' });
    same(await store.inbox(other.sessionId), [], 'the inbox of the other');
    await store.commit(commitOf(other, 2, { taken: [id] }));
    same(
      (await store.inbox(sessionId)).map((command) => command.id),
      [id],
      'the inbox after a commit of the other',
    );
  }),

  storeCase('a command for an unknown session is refused', async (bench) => {
    const { store, sessionId } = bench;
    const post = () => store.post(sessionId, { type: 'turn.stop' });
    await refuses('unknown-session', 'a session that never was', post);
    await store.commit(commitOf(bench, 1));
    await store.delete(sessionId);
    await refuses('unknown-session', 'a deleted session', post);
    same(await store.inbox(sessionId), [], 'the inbox');
  }),

  storeCase('a watcher is told of commands of its session, from any store object, until it ends', async (bench) => {
    const { store, sessionId, agent } = bench;
    if (store.watch === undefined) return;
    const other = { agent, sessionId: `${sessionId}-other` };
    await store.commit(commitOf(bench, 1));
    await store.commit(commitOf(other, 1));
    let told = 0;
    const ends = [store.watch(other.sessionId, () => told++)];
    const ended = store.watch(sessionId, () => told++);
    ended();
    ended();
    try {
      for (const poster of [store, await bench.another()]) {
        let end = (): void => undefined;
        const notice = new Promise<void>((resolve) => {
          end = store.watch?.(sessionId, resolve) ?? end;
        });
        ends.push(end);
        // A store may need a moment before it hears of others: what was posted until then lies in the inbox.
        await poster.post(sessionId, { type: 'turn.stop' });
        await noticed(notice, poster === store ? 'a command of the same store' : 'a command of another store');
      }
    } finally {
      for (const end of ends) end();
    }
    same(told, 0, 'notices for an ended watch and for another session');
    same((await store.inbox(sessionId)).length, 2, 'commands in the inbox');
  }),
];
