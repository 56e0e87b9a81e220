// Leaves commands in the inbox of a session, as a process does that does not own it.
import type { OutsideEvent } from '../../../src/machines/agent-context.ts';
import { sqliteStore } from '../../../src/stores/sqlite-store.ts';

const [path = '', sessionId = '', events = ''] = process.argv.slice(2);
const store = sqliteStore(path);
for (const event of JSON.parse(events) as OutsideEvent[]) await store.post(sessionId, event);
await store.close();
process.stdout.write('{}');
