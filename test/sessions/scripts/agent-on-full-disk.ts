// Runs turns until the disk is full, then gets space and goes on. Prints what happened.
import { execFileSync } from 'node:child_process';
import { violations } from '../../../src/messages/violations.ts';
import { createAgent } from '../../../src/sessions/create-agent.ts';
import { sqliteStore } from '../../../src/stores/sqlite-store.ts';
import { modelOfTurns } from '../../support/models.ts';
import { call, calls, toolOf } from '../../support/tools.ts';

const [path = ''] = process.argv.slice(2);
const store = sqliteStore(path);
const look = toolOf('look', () => 'y'.repeat(10_000), { annotations: { readOnly: true } });
const agent = createAgent({ store, model: modelOfTurns(calls(call('look')), 'Seen.'), tools: [look] });
let turns = 0;
let error: { code?: string; message?: string } | undefined;
while (error === undefined && turns < 200) {
  error = await agent.run('Look.', { session: 'full' }).then(
    () => undefined,
    (thrown: { code?: string; message?: string }) => thrown,
  );
  if (error === undefined) turns += 1;
}
const { messages } = await agent.open('full', { readOnly: true });
const shown = violations(messages);
execFileSync('prlimit', ['--pid', `${process.pid}`, '--fsize=unlimited']);
const session = await agent.open('full');
if ((await session.settled().catch(() => undefined)) === undefined) await session.retry();
const { text } = await session.settled();
const after = session.messages.length;
await agent.close();
await store.close();
const { code, message } = error ?? {};
process.stdout.write(JSON.stringify({ turns, code, message, stored: messages.length, shown, text, after }));
