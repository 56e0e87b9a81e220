// Watches, commits, and neither ends the watch nor closes the store: the process has to end all the same.
import { sqliteStore } from '../../../src/stores/sqlite-store.ts';
import { commitOf } from '../../../src/testing/store-case.ts';

const [path = ''] = process.argv.slice(2);
const store = sqliteStore(path);
await store.commit(commitOf({ agent: 'agent', sessionId: 'watched' }, 1));
store.watch?.('watched', () => undefined);
process.stdout.write(JSON.stringify({ watches: true }));
