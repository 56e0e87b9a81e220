// Run by a test in a process of its own: tools that do not keep to their time, and no timer may hold the process.
import { createAgent } from '../../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { toolOf } from '../../support/tools.ts';
import { results } from '../../support/transcript.ts';

const aborted: string[] = [];
const note = (name: string, signal: AbortSignal): void =>
  signal.addEventListener('abort', () => aborted.push(name), { once: true });
const tools = [
  toolOf(
    'never',
    (_, { signal }) => {
      note('never', signal);
      return new Promise(() => undefined);
    },
    { timeout: 100 },
  ),
  toolOf(
    'busy',
    () => {
      const end = Date.now() + 50;
      while (Date.now() < end);
      return 'busy is done';
    },
    { timeout: 60_000 },
  ),
  toolOf(
    'late',
    (_, { signal }) => {
      note('late', signal);
      return new Promise((resolve) => {
        setTimeout(() => resolve('too late'), 250);
      });
    },
    { timeout: 100 },
  ),
];
const model = scriptedModel([{ toolCalls: [{ name: 'never' }, { name: 'busy' }, { name: 'late' }] }, 'done']);
const agent = createAgent({ model, tools });
const begun = Date.now();
const { sessionId, text } = await agent.run('go');
const took = Date.now() - begun;
const session = await agent.open(sessionId);
const before = JSON.stringify(session.messages);
process.on('exit', () => {
  const isSame = JSON.stringify(session.messages) === before;
  console.log(JSON.stringify({ text, took, aborted, isSame, results: results(session.messages) }));
});
