import { expect, test } from 'vitest';
import { createActor, waitFor } from 'xstate';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../support/tools.ts';

test('a settled call is in the state that is named for how it ended', async () => {
  const last = new Map<string, unknown>();
  const model = scriptedModel([calls(call('quick'), call('broken'), call('gated')), 'world']);
  const tools = [
    toolOf('quick', () => 'ok'),
    toolOf('broken', () => new Error('no')),
    toolOf('gated', () => 'ran', { needsApproval: true }),
  ];
  const actor = createActor(createAgent({ model, tools }).machine, {
    input: { message: 'hi' },
    inspect: (event) => {
      if (event.type !== '@xstate.microstep') return;
      const { value } = event.snapshot as { value?: unknown };
      last.set(String((event.actorRef as { id?: string }).id), value);
    },
  }).start();
  await waitFor(actor, (snapshot) => snapshot.hasTag('waiting'));
  actor.send({ type: 'approval.rejected', callId: 'call_1_2' });
  await waitFor(actor, (snapshot) => snapshot.hasTag('settled'));
  expect(['call_1_0', 'call_1_1', 'call_1_2'].map((id) => last.get(id))).toEqual([
    { settled: 'ok' },
    { settled: 'failed' },
    { settled: 'rejected' },
  ]);
});
