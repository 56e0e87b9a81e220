import { describe, expect, test } from 'vitest';
import { createActor, waitFor } from 'xstate';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, heldTool, toolOf } from '../support/tools.ts';
import { transcript } from '../support/transcript.ts';

/** What the types forbid and a host in JavaScript sends all the same. */
const wrong = (value: unknown): never => value as never;

const events = [
  { type: 'user.message', content: 42 },
  { type: 'user.message', content: [null] },
  { type: 'user.message', messages: [null] },
  { type: 'user.message', messages: 5 },
  { type: 'user.message', content: 'x', mode: 'now' },
  { type: 'user.message', content: 'x', options: 5 },
  { type: 'approval.granted' },
  { type: 'approval.granted', callId: 'call_1_0', by: 5 },
  { type: 'approval.granted', callId: 'call_1_0', input: new Date() },
  { type: 'approval.granted', callId: 'call_1_0', remember: 'all' },
  { type: 'approval.rejected', callId: 'call_1_0', reason: 42 },
  { type: 'call.result', callId: 'call_1_0' },
  { type: 'call.cancel' },
  { type: 'call.cancel', callId: {} },
  { type: 'message.withdraw', id: 5 },
  { type: 'turn.stop', reason: 42 },
];

describe('an event whose fields have wrong types does nothing', () => {
  const gated = toolOf('gated', () => 'ran', { needsApproval: true });

  test.each(events)('%j, while a call waits', async (event) => {
    for (const onMessage of ['queue', 'supersede', 'refuse'] as const) {
      const model = scriptedModel([calls(call('gated')), 'world']);
      const { machine } = createAgent({ model, tools: [gated], approvals: { onMessage } });
      const actor = createActor(machine, { input: { message: 'hi' } }).start();
      await waitFor(actor, (snapshot) => snapshot.hasTag('waiting'));
      const before = JSON.stringify(actor.getPersistedSnapshot());
      actor.send(wrong(event));
      expect(JSON.stringify(actor.getPersistedSnapshot())).toBe(before);
      actor.send({ type: 'approval.granted', callId: 'call_1_0' });
      const { context } = await waitFor(actor, (snapshot) => snapshot.hasTag('settled'));
      expect(transcript(context.messages).at(-1)).toBe('assistant: world');
    }
  });

  test.each(events)('%j, while a tool runs, while the model thinks and when the turn is over', async (event) => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held')), 'world']);
    const actor = createActor(createAgent({ model, tools: [held.tool] }).machine, { input: { message: 'hi' } }).start();
    actor.send(wrong(event));
    await held.whenBegun(1);
    actor.send(wrong(event));
    held.end(0);
    const { context } = await waitFor(actor, (snapshot) => snapshot.hasTag('settled'));
    expect(transcript(context.messages).at(-1)).toBe('assistant: world');
    actor.send(wrong(event));
    expect(actor.getSnapshot().context).toEqual(context);
  });
});

test.each([
  [{ message: 42 }, /^message: found 42/],
  [{ message: null }, /^message: found null/],
  [{ message: '' }, /^message: found ""; allowed: text that is not empty/],
  [{ messages: [null] }, /^messages\[0\]: found null/],
  [{ messages: 5 }, /^message: found 5/],
  [{ message: 'hi', messages: [{ role: 'user', content: 5 }] }, /^messages\[0\].content: found 5/],
])('the input %j is an error from the beginning that says why', (input, message) => {
  const errors: unknown[] = [];
  const actor = createActor(createAgent({ model: scriptedModel([]) }).machine, { input: wrong(input) });
  actor.subscribe({ error: (error) => errors.push(error) });
  actor.start();
  expect(actor.getSnapshot().status).toBe('error');
  expect(errors).toEqual([
    expect.objectContaining({ code: 'invalid-message', message: expect.stringMatching(message) }),
  ]);
});
