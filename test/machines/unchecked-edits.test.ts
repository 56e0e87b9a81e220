import { describe, expect, test } from 'vitest';
import { waitFor } from 'xstate';
import { z } from 'zod';
import type { CallRecord } from '../../src/machines/round.ts';
import type { Agent } from '../../src/sessions/agent.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Session } from '../../src/sessions/session.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { type Tool, tool } from '../../src/tools/tool.ts';
import { rejection, reopened } from '../support/sessions.ts';
import { call, calls } from '../support/tools.ts';

/** Payments whose check ends when the test says so: 'bad' fits nobody. */
const payments = () => {
  const paid: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gateOf = (to: string): PromiseWithResolvers<void> => {
    const gate = gates.get(to) ?? Promise.withResolvers<void>();
    gates.set(to, gate);
    return gate;
  };
  const pay: Tool = tool({
    name: 'pay',
    inputSchema: z.object({ to: z.string() }).refine(async ({ to }) => {
      await gateOf(to).promise;
      return to !== 'bad';
    }),
    needsApproval: true,
    execute: ({ to }) => {
      paid.push(to);
      return 'paid';
    },
  });
  return { pay, paid, check: (to: string) => gateOf(to).resolve() };
};

const twoPayments = calls(call('pay', { to: 'ann' }), call('pay', { to: 'ben' }));

const until = async (session: Session, isSo: (calls: readonly CallRecord[]) => boolean): Promise<void> => {
  await waitFor(session.actor, ({ context }) => isSo(context.round?.calls ?? []));
};
const phaseOf = (records: readonly CallRecord[], index: number) => records[index]?.phase;

/** Ann's payment waits, Ben's is still checked, and Ann's is approved with an edit that is still checked. */
const edited = async (agent: Agent, check: (to: string) => void) => {
  const session = await agent.open();
  await session.send('Pay.');
  check('ann');
  await until(session, (records) => phaseOf(records, 0) === 'awaiting-decision');
  const approved = session.approve('call_1_0', { input: { to: 'bad' }, remember: 'tool' });
  approved.catch(() => undefined);
  await until(session, (records) => phaseOf(records, 0) === 'validating');
  return { session, approved };
};

describe('R27/R28: an edit that is still checked is remembered for nothing', () => {
  test.each(['gated', 'all'] as const)('hold %s: a sibling that is checked meanwhile is asked about', async (hold) => {
    const { pay, paid, check } = payments();
    const model = scriptedModel([twoPayments, 'Done.']);
    const { session, approved } = await edited(createAgent({ model, tools: [pay], approvals: { hold } }), check);
    check('ben');
    await until(session, (records) => phaseOf(records, 1) !== 'validating');
    expect(session.pending.map(({ callId }) => callId)).toEqual(['call_1_1']);
    check('bad');
    expect(await rejection(approved)).toMatchObject({ code: 'invalid-input' });
    expect(session.pending.map(({ callId }) => callId)).toEqual(['call_1_0', 'call_1_1']);
    await session.reject('call_1_0');
    await session.reject('call_1_1');
    await session.settled();
    expect(paid).toEqual([]);
    expect(session.actor.getSnapshot().context.decisions).toMatchObject([
      { callId: 'call_1_0', decision: 'rejected' },
      { callId: 'call_1_1', decision: 'rejected' },
    ]);
  });

  test('nor in a session that was saved meanwhile', async () => {
    const before = payments();
    const replies = [twoPayments, 'Done.'];
    const { session } = await edited(createAgent({ model: scriptedModel(replies), tools: [before.pay] }), before.check);
    const after = payments();
    const next = createAgent({ model: scriptedModel(['Done.']), tools: [after.pay] });
    const restored = reopened(next, session);
    after.check('ben');
    await until(restored, (records) => phaseOf(records, 1) !== 'validating');
    expect(restored.pending.map(({ callId }) => callId)).toEqual(['call_1_1']);
    after.check('bad');
    await until(restored, (records) => phaseOf(records, 0) === 'awaiting-decision');
    expect(after.paid).toEqual([]);
    expect(restored.actor.getSnapshot().context.decisions).toEqual([]);
  });

  test('nor inside an agent that is a tool', async () => {
    const { pay, paid, check } = payments();
    const helper = createAgent({ name: 'helper', model: scriptedModel([twoPayments, 'Done.']), tools: [pay] });
    const model = scriptedModel([calls(call('helper', { prompt: 'Pay.' })), 'Done.']);
    const tools = [helper.asTool({ name: 'helper', description: 'Pays.' })];
    const session = await createAgent({ model, tools }).open();
    await session.send('Pay.');
    check('ann');
    await until(session, ([outer]) => outer?.nested?.pending.length === 1);
    const [asked] = session.pending;
    const refused = rejection(session.approve(asked?.callId ?? '', { input: { to: 'bad' }, remember: 'tool' }));
    await until(session, ([outer]) => outer?.nested?.pending.length === 0);
    check('ben');
    await until(session, ([outer]) => outer?.nested?.pending.length === 1);
    expect(session.pending.map(({ callId }) => callId)).toEqual(['call_1_0-call_1_1']);
    check('bad');
    expect(await refused).toMatchObject({ code: 'invalid-input' });
    expect(paid).toEqual([]);
  });

  test('nor after its call was cancelled before the check had ended', async () => {
    const { pay, paid, check } = payments();
    const model = scriptedModel([calls(call('pay', { to: 'ann' })), calls(call('pay', { to: 'ben' })), 'Done.']);
    const { session, approved } = await edited(createAgent({ model, tools: [pay] }), check);
    check('ben');
    await session.cancel('call_1_0');
    await approved;
    const { pending } = await session.settled();
    expect(pending.map(({ callId }) => callId)).toEqual(['call_2_0']);
    expect(paid).toEqual([]);
    expect(session.actor.getSnapshot().context.decisions).toMatchObject([{ callId: 'call_1_0', edited: true }]);
  });
});
