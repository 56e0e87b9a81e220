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
  }),

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
