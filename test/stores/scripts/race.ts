// Begins a store that others begin at the same moment, then commits to a session of its own and to one that all write.
import { sqliteStore } from '../../../src/stores/sqlite-store.ts';
import { commitOf } from '../../../src/testing/store-case.ts';

const [path = '', name = '', count = ''] = process.argv.slice(2);
const store = sqliteStore(path);
const won: number[] = [];
for (let revision = 1; revision <= Number(count); revision++) {
  await store.commit(commitOf({ agent: 'own', sessionId: name }, revision));
  const shared = (await store.list({ agent: 'shared' }))[0]?.revision ?? 0;
  const commit = commitOf({ agent: 'shared', sessionId: 'shared' }, shared + 1, { messages: [`"${name}"`] });
  const code = await store.commit(commit).then(
    () => undefined,
    (error: { code?: string }) => error.code ?? 'no code',
  );
  if (code === undefined) won.push(shared + 1);
  else if (code !== 'session-conflict') throw new Error(code);
}
await store.post('shared', { type: 'turn.stop', reason: name });
await store.close();
process.stdout.write(JSON.stringify({ won }));
