// As a user who may read the file but not write it: a turn is refused, a look is not.
import { createAgent } from '../../../src/sessions/create-agent.ts';
import { sqliteStore } from '../../../src/stores/sqlite-store.ts';
import { modelOfTurns } from '../../support/models.ts';

const [path = ''] = process.argv.slice(2);
// The superuser may write everything.
if (process.getuid?.() === 0) process.setuid?.(65_534);
const agent = createAgent({ store: sqliteStore(path), model: modelOfTurns('Never.', 'Never.') });
const refused = await agent.run('More.', { session: 'kept' }).then(
  () => ({}),
  ({ code, message }: { code?: string; message?: string }) => ({ code, message }),
);
const { messages } = await agent.open('kept', { readOnly: true });
process.stdout.write(JSON.stringify({ ...refused, looked: messages.length }));
