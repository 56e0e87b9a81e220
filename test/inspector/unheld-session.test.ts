import { afterEach, beforeAll, expect, test } from 'vitest';
import { createActor, createMachine, waitFor } from 'xstate';
import { createAgent, pendingOf } from '../../src/index.ts';
import { type Inspector, startInspector } from '../../src/inspector/index.ts';
import { createRecorder } from '../../src/inspector/recorder.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { collect } from '../support/collect.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { command, preparePage } from './http.ts';

// What waits for somebody is often held by nobody: the program that began it has its answer and went on.

beforeAll(preparePage);

const open: Inspector[] = [];
const start = async (options: Parameters<typeof startInspector>[0]): Promise<Inspector> => {
  const inspector = await startInspector(options);
  open.push(inspector);
  return inspector;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((inspector) => inspector.close()));
});

const clerk = (replies: string[]) => {
  const paid: unknown[] = [];
  const tools = [toolOf('pay', (input) => paid.push(input), { needsApproval: true })];
  const model = scriptedModel([calls(call('pay', { sum: 3 })), ...replies]);
  return { paid, agent: createAgent({ name: 'clerk', model, tools }) };
};

test('a paused run that nobody holds can still be decided on', async () => {
  const recorder = createRecorder();
  const { paid, agent } = clerk(['Paid.']);
  const inspector = await start({ recorder, agents: [agent] });
  const { pending } = await agent.run('Pay.', { session: 'first', inspect: inspector.inspect });
  await collect();
  const decision = { session: 'first', callId: pending[0]?.callId, inputHash: pending[0]?.inputHash };
  const root = recorder.rootOf('first');
  expect((await command(inspector.url, { type: 'approve', ...decision })).status).toBe(200);
  await waitFor(root ?? expect.fail('the session is gone'), (snapshot) => snapshot.matches({ done: 'answered' }));
  expect(paid).toEqual([{ sum: 3 }]);
});

test('so can a raw actor that nobody holds', async () => {
  const recorder = createRecorder();
  const { paid, agent } = clerk(['Paid.']);
  const inspector = await start({ recorder });
  const begin = async () => {
    const actor = createActor(agent.machine, {
      input: { message: 'Pay.', sessionId: 'raw' },
      inspect: inspector.inspect,
    });
    actor.start();
    const { context } = await waitFor(actor, (snapshot) => snapshot.hasTag('waiting'));
    return pendingOf(context)[0];
  };
  const { callId, inputHash } = (await begin()) ?? {};
  await collect();
  const root = recorder.rootOf('raw') ?? expect.fail('the actor is gone');
  expect((await command(inspector.url, { type: 'approve', session: 'raw', callId, inputHash })).status).toBe(200);
  await waitFor(root, (snapshot) => snapshot.matches({ done: 'answered' }));
  expect(paid).toEqual([{ sum: 3 }]);
});

test('a session older than the newest thousand is opened again by its agent', async () => {
  const recorder = createRecorder();
  const { paid, agent } = clerk(['Paid.']);
  const inspector = await start({ recorder, agents: [agent] });
  const { pending } = await agent.run('Pay.', { session: 'old', inspect: inspector.inspect });
  const other = createMachine({ id: 'other' });
  for (let index = 0; index < 1_000; index += 1) createActor(other, { inspect: inspector.inspect }).start();
  await collect();
  expect(recorder.rootOf('old')).toBeUndefined();
  const decision = { session: 'old', callId: pending[0]?.callId, inputHash: pending[0]?.inputHash };
  expect((await command(inspector.url, { type: 'approve', ...decision })).status).toBe(200);
  const session = await agent.open('old');
  expect((await session.settled()).text).toBe('Paid.');
  expect(paid).toEqual([{ sum: 3 }]);
});
