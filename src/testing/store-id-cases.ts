import type { SessionStore } from '../stores/store.ts';
import { type StoreCase, commitOf, refuses, same, storeCase } from './store-case.ts';

const odd = [
  '../../x',
  '..',
  '/etc/x',
  'C:\\x',
  "'; drop table sessions; --",
  '%',
  '_',
  '*',
  '$1',
  '👩‍🚀',
  'A',
  'a',
  'ß',
  'ss',
  '\u00e9',
  'e\u0301',
  '__proto__',
  'constructor',
  'CON',
  'con ',
  'con',
  ' ',
  '  ',
  '\n',
  '\t',
  '0',
  '00',
  '1',
  '1.0',
  'null',
  '\ufeff',
  '\u007f',
  '𝒳'.repeat(500),
  'x'.repeat(1000),
  `${'x'.repeat(999)}y`,
  Array.from({ length: 1000 }, (_, index) => String.fromCharCode(0x4e00 + ((index * 7919) % 20_000))).join(''),
];

const bad: readonly unknown[] = [
  '',
  'x'.repeat(1001),
  'a\0b',
  '\0',
  '\ud800',
  'x\udc00y',
  42,
  null,
  undefined,
  {},
  ['a'],
];

const methods: Record<string, (store: SessionStore, sessionId: string) => unknown> = {
  read: (store, sessionId) => store.read(sessionId),
  commit: (store, sessionId) => store.commit(commitOf({ agent: 'agent', sessionId }, 1)),
  history: (store, sessionId) => store.history(sessionId),
  delete: (store, sessionId) => store.delete(sessionId),
  post: (store, sessionId) => store.post(sessionId, { type: 'turn.stop' }),
  inbox: (store, sessionId) => store.inbox(sessionId),
  refusals: (store, sessionId) => store.refusals(sessionId),
  watch: (store, sessionId) => store.watch?.(sessionId, () => undefined),
};

export const idCases: readonly StoreCase[] = [
  storeCase('every well-formed id is a session of its own', async ({ store, agent }) => {
    const deleteAll = async (): Promise<void> => {
      for (const sessionId of odd) await store.delete(sessionId);
    };
    await deleteAll();
    try {
      for (const [index, sessionId] of odd.entries()) {
        await store.commit(commitOf({ agent, sessionId }, 1, { messages: [`${index}`] }));
        await store.post(sessionId, { type: 'turn.stop', reason: `${index}` });
      }
      const listed = await store.list({ agent });
      same(listed.map(({ sessionId }) => sessionId).toSorted(), odd.toSorted(), 'the ids');
      for (const [index, sessionId] of odd.entries()) {
        const what = JSON.stringify(sessionId.slice(0, 20));
        same((await store.read(sessionId))?.messages, [`${index}`], `the messages of ${what}`);
        same((await store.history(sessionId)).length, 1, `the length of the history of ${what}`);
        const reasons = (await store.inbox(sessionId)).map(({ event }) => 'reason' in event && event.reason);
        same(reasons, [`${index}`], `the inbox of ${what}`);
        same(await store.delete(sessionId), true, `deleting ${what}`);
        same((await store.list({ agent })).length, odd.length - index - 1, `the sessions left after ${what}`);
      }
    } finally {
      await deleteAll();
    }
  }),

  storeCase('every method refuses what is no id', async ({ store }) => {
    for (const id of bad) {
      for (const [name, call] of Object.entries(methods)) {
        if (name === 'watch' && store.watch === undefined) continue;
        const what = `${name} of ${JSON.stringify(id)?.slice(0, 20)}`;
        // What no type allows: somebody else's data.
        await refuses('invalid-option', what, () => call(store, id as string));
      }
    }
  }),
];
