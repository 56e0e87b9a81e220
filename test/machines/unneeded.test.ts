import { expect, test } from 'vitest';
import { createActor, waitFor } from 'xstate';
import { ModelError } from '../../src/models/model-error.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { manualClock } from '../support/manual-clock.ts';
import { F1, call, calls } from '../support/tools.ts';

test('a turn that has its answer takes no retry', async () => {
  const model = scriptedModel(['world']);
  const actor = createActor(createAgent({ model }).machine, { input: { message: 'hi' } }).start();
  await waitFor(actor, (snapshot) => snapshot.hasTag('settled'));
  actor.send({ type: 'turn.retry' });
  expect(actor.getSnapshot().matches({ done: 'answered' })).toBe(true);
  model.assertFinished();
});

test('without `stopWhen` no actor is asked whether to stop', async () => {
  const started: string[] = [];
  const model = scriptedModel([calls(call('F1')), 'world']);
  const actor = createActor(createAgent({ model, tools: [F1] }).machine, {
    input: { message: 'hi' },
    inspect: (event) => {
      if (event.type === '@xstate.actor') started.push(String((event.actorRef as { id?: string }).id));
    },
  }).start();
  await waitFor(actor, (snapshot) => snapshot.hasTag('settled'));
  expect(started).toContain('call_1_0');
  expect(started).not.toContain('stopWhen');
});

test('a wait exactly as long as the longest one allowed is waited for', async () => {
  const clock = manualClock();
  const busy = new ModelError('model-request-failed', 'busy', { transient: true, retryAfter: 1000 });
  const model = scriptedModel([busy, 'world']);
  const agent = createAgent({ model, clock, retry: { maxRetryAfter: 1000 } });
  const actor = createActor(agent.machine, { input: { message: 'hi' } }).start();
  await waitFor(actor, (snapshot) => snapshot.matches({ thinking: 'backing-off' }));
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1000);
  await waitFor(actor, (snapshot) => snapshot.matches({ done: 'answered' }));
  model.assertFinished();
});
