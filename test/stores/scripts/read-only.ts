// As a user who may read the file but not write it.
import { sqliteStore } from '../../../src/stores/sqlite-store.ts';
import { commitOf } from '../../../src/testing/store-case.ts';

const [path = ''] = process.argv.slice(2);
// The superuser may write everything.
if (process.getuid?.() === 0) process.setuid?.(65_534);
const store = sqliteStore(path);
const session = { agent: 'agent', sessionId: 'kept' };
const read = await store.read(session.sessionId);
const refused = await store.commit(commitOf(session, 2)).then(
  () => ({}),
  ({ code, message }: { code?: string; message?: string }) => ({ code, message }),
);
process.stdout.write(
  JSON.stringify({ revision: read?.revision, ...refused, after: (await store.read('kept'))?.revision }),
);
