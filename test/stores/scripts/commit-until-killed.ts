// Commits to one session without end: two messages a commit, a command taken with each. Prints every revision that was confirmed.
import { sqliteStore } from '../../../src/stores/sqlite-store.ts';
import { commitOf } from '../../../src/testing/store-case.ts';

const [path = ''] = process.argv.slice(2);
const session = { agent: 'agent', sessionId: 'killed' };
const store = sqliteStore(path);
const taken: number[] = [];
for (let revision = ((await store.read(session.sessionId))?.revision ?? 0) + 1; ; revision++) {
  const messages = [`"${revision} a"`, `"${revision} ${'b'.repeat(3000)}"`];
  await store.commit(commitOf(session, revision, { messages, taken, summary: { messages: revision * 2 } }));
  process.stdout.write(`${revision}\n`);
  taken.splice(0, 1, await store.post(session.sessionId, { type: 'turn.stop', reason: `${revision}` }));
}
