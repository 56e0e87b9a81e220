// As a user who may not write the file, or not its folder.
import { sqliteStore } from '../../../src/stores/sqlite-store.ts';
import { commitOf } from '../../../src/testing/store-case.ts';

const [path = ''] = process.argv.slice(2);
// The superuser may write everything.
if (process.getuid?.() === 0) process.setuid?.(65_534);
const store = sqliteStore(path);
const session = { agent: 'agent', sessionId: 'kept' };
const failure = ({ code, message }: { code?: string; message?: string }) => ({ code, message });
const work = async (): Promise<object> => {
  const read = await store.read(session.sessionId);
  const refused = await store.commit(commitOf(session, 2)).then(() => ({}), failure);
  return { revision: read?.revision, ...refused, after: (await store.read('kept'))?.revision };
};
process.stdout.write(JSON.stringify(await work().catch(failure)));
