// A process that has a session of an SQLite file open: it looks, waits for a decision, and ends when the turn does.
import { createAgent } from '../../src/index.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../support/tools.ts';

const [path = '', session = ''] = process.argv.slice(2);
const paid: unknown[] = [];
const agent = createAgent({
  name: 'clerk',
  model: scriptedModel([calls(call('look', { at: 'the bill' })), calls(call('pay', { sum: 3 })), 'It is done.']),
  tools: [toolOf('look', () => 'seen'), toolOf('pay', (input) => (paid.push(input), 'paid'), { needsApproval: true })],
  store: sqliteStore(path),
});
const opened = await agent.open(session);
const ended = new Promise<void>((resolve) => {
  opened.actor.subscribe((snapshot) => {
    if (snapshot.hasTag('settled') && snapshot.context.turn.iterations > 0) resolve();
  });
});
await opened.send('Pay the bill.');
await opened.settled();
process.stderr.write('waiting\n');
// To wait for somebody keeps no process alive.
const alive = setInterval(() => undefined, 60_000);
await ended;
clearInterval(alive);
const { text } = await opened.settled();
await agent.close();
process.stdout.write(JSON.stringify({ text, paid }));
