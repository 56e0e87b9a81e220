import type { Commit, HistoryEntry } from '../stores/store.ts';
import { type StoreCase, commitOf, same, start, storeCase } from './store-case.ts';

const entriesOf = ({ transitions, summary }: Commit): HistoryEntry[] =>
  transitions.map((transition) => ({ ...transition, revision: summary.revision, at: summary.updatedAt }));

export const readingCases: readonly StoreCase[] = [
  storeCase('a session is read from its last whole state on, at its end and at any revision', async (bench) => {
    const { store, sessionId } = bench;
    const wholes = [1, 4];
    for (let revision = 1; revision <= 6; revision++) {
      const messages = revision % 2 === 0 ? [] : [`"${revision}"`];
      await store.commit(commitOf(bench, revision, { isWhole: wholes.includes(revision), messages }));
    }
    const { summary } = commitOf(bench, 6);
    const states = (...revisions: number[]): string[] => revisions.map((revision) => `{"state":${revision}}`);
    const expected = [
      [1, states(1), ['"1"']],
      [2, states(1, 2), ['"1"']],
      [3, states(1, 2, 3), ['"1"', '"3"']],
      [4, states(4), ['"1"', '"3"']],
      [6, states(4, 5, 6), ['"1"', '"3"', '"5"']],
    ] as const;
    for (const [at, wanted, messages] of expected) {
      const session = { summary, revision: at, states: wanted, messages };
      same(await store.read(sessionId, { at }), session, `the session at revision ${at}`);
    }
    same(await store.read(sessionId), await store.read(sessionId, { at: 6 }), 'the session without a revision');
  }),

  storeCase('what is not there is undefined, empty or false', async (bench) => {
    const { store, sessionId, agent } = bench;
    same(await store.read(sessionId), undefined, 'an unknown session');
    same(await store.read(sessionId, { at: 1 }), undefined, 'a revision of an unknown session');
    same(await store.history(sessionId), [], 'the history of an unknown session');
    same(await store.inbox(sessionId), [], 'the inbox of an unknown session');
    same(await store.list({ agent }), [], 'the sessions of an unknown agent');
    same(await store.delete(sessionId), false, 'deleting an unknown session');
    await store.commit(commitOf(bench, 1));
    // What no type allows: a text that looks like a revision.
    for (const at of [-1, 0, 1.5, 2, Number.NaN, Infinity, 2 ** 60, '1' as unknown as number]) {
      same(await store.read(sessionId, { at }), undefined, `revision ${JSON.stringify(at)} of a session with one`);
    }
  }),

  storeCase('a history is given oldest first, in pages of revisions in which something happened', async (bench) => {
    const { store, sessionId } = bench;
    const commits = [1, 2, 3, 4, 5, 6].map((revision) =>
      commitOf(bench, revision, {
        transitions: Array.from({ length: revision % 3 }, (_, index) => ({
          from: `a.${index}`,
          to: `b.${revision}`,
          event: `e.${index}`,
        })),
      }),
    );
    for (const commit of commits) await store.commit(commit);
    const entries = (...revisions: number[]): HistoryEntry[] =>
      commits.filter(({ summary }) => revisions.includes(summary.revision)).flatMap(entriesOf);
    same(await store.history(sessionId), entries(1, 2, 4, 5), 'the whole history');
    same(await store.history(sessionId, { limit: 2 }), entries(1, 2), 'the first page');
    same(await store.history(sessionId, { after: 2, limit: 1 }), entries(4), 'the second page');
    same(await store.history(sessionId, { after: 4 }), entries(5), 'the rest');
    same(await store.history(sessionId, { after: 6 }), [], 'what comes after the end');
    same(await store.history(sessionId, { limit: 0 }), [], 'a page of nothing');
  }),

  storeCase('sessions are listed by their last change, filtered and in pages', async (bench) => {
    const { store, agent } = bench;
    const id = (number: number): string => `${bench.sessionId}-${number}`;
    for (let number = 0; number < 6; number++) {
      const status = number % 2 === 0 ? 'idle' : 'waiting';
      const summary = { status, createdAt: start - number, updatedAt: start + number } as const;
      await store.commit(commitOf({ agent, sessionId: id(number) }, 1, { summary }));
    }
    const later = { status: 'closed', createdAt: start - 1, updatedAt: start + 10 } as const;
    const changed = commitOf({ agent, sessionId: id(1) }, 2, { summary: later });
    await store.commit(changed);
    await store.commit(commitOf({ agent: `${agent}-other`, sessionId: id(6) }, 1));
    const ids = async (options: Parameters<typeof store.list>[0]): Promise<string[]> =>
      (await store.list({ agent, ...options })).map(({ sessionId }) => sessionId);
    same(await ids({}), [1, 5, 4, 3, 2, 0].map(id), 'all');
    same((await store.list({ agent, limit: 1 }))[0], changed.summary, 'the first summary');
    same(await ids({ limit: 2 }), [1, 5].map(id), 'the first page');
    same(await ids({ limit: 2, offset: 2 }), [4, 3].map(id), 'the second page');
    same(await ids({ offset: 6 }), [], 'a page after the end');
    same(await ids({ limit: 0 }), [], 'a page of nothing');
    same(await ids({ status: 'idle' }), [4, 2, 0].map(id), 'the idle ones');
    same(await ids({ changedBefore: start + 3 }), [2, 0].map(id), 'those changed before');
    same(await ids({ status: 'waiting', changedBefore: start + 5, limit: 1 }), [id(3)], 'all filters at once');
  }),

  storeCase(
    'at most 100 sessions are listed unless more are asked for, each once, also those of one moment',
    async (bench) => {
      const { store, agent } = bench;
      const ids = Array.from({ length: 105 }, (_, index) => `${bench.sessionId}-${index}`);
      const summary = { updatedAt: start };
      await Promise.all(ids.map((sessionId) => store.commit(commitOf({ agent, sessionId }, 1, { summary }))));
      const first = await store.list({ agent });
      const rest = await store.list({ agent, offset: 100 });
      same([first.length, rest.length], [100, 5], 'the sizes of the pages');
      const listed = [...first, ...rest].map(({ sessionId }) => sessionId);
      same(listed.toSorted(), ids.toSorted(), 'the sessions of both pages');
      same((await store.list({ agent, limit: 1000 })).length, 105, 'the size of a large page');
    },
  ),

  storeCase('what a caller does with an answer changes nothing in the store', async (bench) => {
    const { store, sessionId, agent } = bench;
    await store.commit(commitOf(bench, 1));
    const read = await store.read(sessionId);
    const [listed] = await store.list({ agent });
    if (read === undefined || listed === undefined) throw new Error('the session is missing');
    read.messages.push('"more"');
    read.states.length = 0;
    read.summary.revision = 9;
    listed.status = 'closed';
    const { summary, state, messages } = commitOf(bench, 1);
    same(await store.read(sessionId), { summary, revision: 1, states: [state], messages }, 'the session');
  }),

  storeCase('what a caller does later with what it gave changes nothing in the store', async (bench) => {
    const { store, sessionId } = bench;
    const summary = { ...commitOf(bench, 1).summary };
    const messages = ['"first"'];
    const transitions = [{ from: 'a', to: 'b', event: 'c' }];
    await store.commit({ ...commitOf(bench, 1), summary, messages, transitions });
    const event = { type: 'approval.granted' as const, callId: 'c1', input: { amount: 1 } };
    await store.post(sessionId, event);
    const known = async () => [
      await store.read(sessionId),
      await store.history(sessionId),
      await store.inbox(sessionId),
    ];
    const before = structuredClone(await known());
    summary.revision = 9;
    messages.push('"more"');
    transitions.length = 0;
    event.input.amount = 2;
    for (const command of await store.inbox(sessionId)) command.id = 99;
    same(await known(), before, 'session, history and inbox');
  }),

  storeCase('it says whether it is durable', async ({ store }) => {
    same(typeof store.durable, 'boolean', 'the type of `durable`');
  }),
];
