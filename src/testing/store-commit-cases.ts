import { type Bench, type StoreCase, commitOf, refuses, same, storeCase } from './store-case.ts';

const commitMany = async (bench: Bench, count: number): Promise<void> => {
  for (let revision = 1; revision <= count; revision++) await bench.store.commit(commitOf(bench, revision));
};

/** An array whose last item cannot be read: what makes a store fail in the middle of its work. */
const breaking = <T>(items: T[]): T[] => {
  const broken = [...items];
  Object.defineProperty(broken, broken.length - 1, {
    get: () => {
      throw new Error('this item cannot be read');
    },
  });
  return broken;
};

export const commitCases: readonly StoreCase[] = [
  storeCase('what was committed is read as it was', async (bench) => {
    const { store, sessionId } = bench;
    const commit = commitOf(bench, 1, {
      messages: ['{"a":1}', '{"b":2}'],
      summary: { messages: 2, status: 'waiting', pending: 3, machineVersion: 7, createdAt: 5, updatedAt: 6 },
    });
    await store.commit(commit);
    const { summary, state, messages } = commit;
    same(await store.read(sessionId), { summary, revision: 1, states: [state], messages }, 'the session');
  }),

  storeCase('texts are kept to the letter, whatever is in them and however many there are', async (bench) => {
    const { store, sessionId } = bench;
    const state = '{ "spaces" : "kept", "key": 1, "key": 2, "big": 12345678901234567890 } and no JSON';
    const odd = [
      '{"t":"\\u0000 \\ud800 \\"quoted\\" \'; drop table x; -- 👩‍🚀 e\u0301 é %s $1 ?1"}',
      'x'.repeat(1_000_000),
      '\n[]\t',
    ];
    const messages = [...odd, ...Array.from({ length: 2000 }, (_, index) => `${index}`)];
    const transitions = [{ from: '', to: 'it\'s "quoted"', event: '*\n👩‍🚀' }];
    await store.commit(commitOf(bench, 1, { state, messages, transitions, summary: { messages: messages.length } }));
    const read = await store.read(sessionId);
    same(read?.states, [state], 'the state');
    same(read?.messages, messages, 'the messages');
    const [entry] = await store.history(sessionId);
    same(entry, { ...transitions[0], revision: 1, at: commitOf(bench, 1).summary.updatedAt }, 'the transition');
  }),

  storeCase('a commit changes the summary and adds its messages after the earlier ones', async (bench) => {
    const { store, sessionId } = bench;
    await commitMany(bench, 2);
    const last = commitOf(bench, 3, {
      messages: [],
      transitions: [],
      summary: {
        status: 'idle',
        pending: 1,
        machineVersion: 2,
        agent: `${bench.agent}-renamed`,
        messages: 2,
      },
    });
    await store.commit(last);
    same(
      await store.read(sessionId),
      { summary: last.summary, revision: 3, states: ['{"state":3}'], messages: ['{"message":1}', '{"message":2}'] },
      'the session',
    );
  }),

  storeCase('a commit that is not the next one is refused, and nothing of it is stored', async (bench) => {
    const { store, sessionId } = bench;
    await refuses('session-conflict', 'a second commit first', () => store.commit(commitOf(bench, 2)));
    same(await store.read(sessionId), undefined, 'the session that was never begun');
    await commitMany(bench, 2);
    const command = await store.post(sessionId, { type: 'turn.stop' });
    const before = [await store.read(sessionId), await store.history(sessionId), await store.inbox(sessionId)];
    for (const revision of [0, 1, 2, 4]) {
      await refuses('session-conflict', `revision ${revision} after 2`, () =>
        store.commit(commitOf(bench, revision, { taken: [command], summary: { status: 'closed' } })),
      );
    }
    const after = [await store.read(sessionId), await store.history(sessionId), await store.inbox(sessionId)];
    same(after, before, 'session, history and inbox');
    await store.commit(commitOf(bench, 3));
  }),

  storeCase('a commit that fails half-way leaves the session as it was', async (bench) => {
    const { store, sessionId } = bench;
    const parts = [
      { messages: breaking(['"first"', '"second"']) },
      { transitions: breaking([{ from: 'a', to: 'b', event: 'c' }]) },
    ];
    const fails = async (revision: number): Promise<void> => {
      for (const part of parts) {
        const failed = await store.commit(commitOf(bench, revision, part)).then(
          () => false,
          () => true,
        );
        same(failed, true, `that a commit with broken ${Object.keys(part).join()} rejects`);
      }
    };
    await fails(1);
    same(await store.read(sessionId), undefined, 'the session that was never begun');
    await commitMany(bench, 1);
    const before = [await store.read(sessionId), await store.history(sessionId)];
    await fails(2);
    same([await store.read(sessionId), await store.history(sessionId)], before, 'session and history');
    await store.commit(commitOf(bench, 2));
    same((await store.read(sessionId))?.messages, ['{"message":1}', '{"message":2}'], 'the messages after the next');
  }),

  storeCase(
    'commits of many sessions at once are all taken, and those that come too late harm no other',
    async (bench) => {
      const { store, agent } = bench;
      const sessions = Array.from({ length: 20 }, (_, index) => `${bench.sessionId}-${index}`);
      const outcomes = await Promise.allSettled(
        sessions.map((sessionId, index) => store.commit(commitOf({ agent, sessionId }, index % 2 === 0 ? 1 : 2))),
      );
      same(
        outcomes.map(({ status }) => status),
        sessions.map((_, index) => (index % 2 === 0 ? 'fulfilled' : 'rejected')),
        'which were taken',
      );
      const listed = await store.list({ agent });
      same(
        listed.map(({ sessionId }) => sessionId).toSorted(),
        sessions.filter((_, index) => index % 2 === 0).toSorted(),
        'the sessions',
      );
    },
  ),
];
