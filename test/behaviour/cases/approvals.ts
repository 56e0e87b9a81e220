import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../../src/sessions/agent-options.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { tool } from '../../../src/tools/tool.ts';
import { counter, rejection } from '../../support/sessions.ts';
import { F1, call, calls, outsideTool, toolOf } from '../../support/tools.ts';
import { results, transcript } from '../../support/transcript.ts';
import { type Cases, queued, resting, seen } from '../backend.ts';

export const approvals: Cases = (start) => {
  const inputSchema = z.object({ seats: z.number().int().positive() });
  /** One call that waits for approval; `booked` is what ran. */
  const waiting = async (options: Partial<AgentOptions> = {}, toolCalls = [call('book', { seats: 3 })]) => {
    const booked = counter<{ seats: number }>(({ seats }) => `booked ${seats}`);
    const book = tool({ name: 'book', inputSchema, needsApproval: true, execute: booked.run });
    const model = scriptedModel([calls(...toolCalls), 'one', 'two', 'three']);
    const running = await start({ model, tools: [book, F1, outsideTool('ask')], ...options });
    const session = await running.open();
    await session.send('go');
    const { outcome, pending } = await session.settled();
    expect(outcome).toEqual({ type: 'pending' });
    return { running, session, booked: booked.calls, model, pending, inputHash: pending[0]?.inputHash ?? '' };
  };

  describe('approvals', () => {
    test('R27: what waits is listed; approved it runs as it was shown', async () => {
      const { session, booked, pending, inputHash } = await waiting();
      expect(pending).toEqual([
        { callId: 'call_1_0', path: [], tool: 'book', input: { seats: 3 }, needs: 'approval', inputHash },
      ]);
      expect(await session.look()).toMatchObject({ status: 'waiting', pending, messages: [{ role: 'user' }] });
      expect(booked).toEqual([]);
      await session.approve('call_1_0', { inputHash, by: 'ann' });
      const { text, messages } = await resting(session);
      expect(text).toBe('one');
      expect(results(messages)).toEqual(['booked 3']);
      expect(booked).toEqual([{ seats: 3 }]);
      expect(JSON.stringify(await session.toJSON())).toContain('"by":"ann"');
    });

    test('R27: approved with other arguments, those run; the history has both', async () => {
      const { session, booked, inputHash } = await waiting();
      await session.approve('call_1_0', { input: { seats: 2 }, inputHash });
      const { messages } = await resting(session);
      expect(booked).toEqual([{ seats: 2 }]);
      expect(transcript(messages)).toContain('assistant: book{"seats":2}');
      expect(JSON.stringify(messages)).toContain('"originalInput":{"seats":3}');
      expect(results(messages)).toEqual(['booked 2']);
    });

    test('R27: other arguments that do not fit are refused, and the call still waits', async () => {
      const { session, booked } = await waiting();
      expect(await rejection(session.approve('call_1_0', { input: { seats: -1 } }))).toMatchObject({
        code: 'invalid-input',
      });
      const { status, pending } = await session.look();
      expect(status).toBe('waiting');
      expect(pending).toMatchObject([{ callId: 'call_1_0', input: { seats: 3 } }]);
      await session.approve('call_1_0', { input: { seats: 1 } });
      await resting(session);
      expect(booked).toEqual([{ seats: 1 }]);
    });

    test('R27: rejected, the model reads the reason and nothing runs', async () => {
      const { session, booked } = await waiting();
      await session.reject('call_1_0', { reason: 'too dear' });
      expect(results((await resting(session)).messages)).toEqual(['Tool call invocation rejected. too dear']);
      expect(booked).toEqual([]);
    });

    test('R27: answered in the place of the tool', async () => {
      const { session, booked } = await waiting();
      await session.respond('call_1_0', { seats: 'by hand' }, { by: 'ann' });
      expect(results((await resting(session)).messages)).toEqual(['{"seats":"by hand"}']);
      expect(booked).toEqual([]);
    });

    test('R29: a decision on other arguments than those that wait changes nothing', async () => {
      const { session, booked, pending } = await waiting();
      for (const decide of [session.approve, session.reject]) {
        expect(await rejection(decide('call_1_0', { inputHash: 'stale' }))).toMatchObject({ code: 'call-changed' });
      }
      expect(await rejection(session.respond('call_1_0', 1, { inputHash: 'stale' }))).toMatchObject({
        code: 'call-changed',
      });
      expect((await session.look()).pending).toEqual(pending);
      expect(booked).toEqual([]);
    });

    test('R29: the same decision again counts once; another one is refused, early and late', async () => {
      const { session, booked, model } = await waiting({}, [call('book', { seats: 3 }), call('book', { seats: 4 })]);
      await session.approve('call_1_0');
      await session.approve('call_1_0');
      expect(await rejection(session.reject('call_1_0'))).toMatchObject({ code: 'decision-conflict' });
      expect(booked).toEqual([]);
      await session.approve('call_1_1');
      await resting(session);
      await session.approve('call_1_0');
      expect(await rejection(session.reject('call_1_0'))).toMatchObject({ code: 'decision-conflict' });
      expect(booked.map(({ seats }) => seats).toSorted((a, b) => a - b)).toEqual([3, 4]);
      expect(model.requests).toHaveLength(2);
    });

    test('R29: many decisions on one call at once: one of them counts, the others are told', async () => {
      const { session, booked } = await waiting();
      const outcomes = await Promise.allSettled([
        session.approve('call_1_0', { input: { seats: 1 } }),
        session.approve('call_1_0', { input: { seats: 2 } }),
        session.reject('call_1_0'),
      ]);
      await resting(session);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(booked.length).toBeLessThanOrEqual(1);
    });

    test('R29: a decision on a call that is not there, or that does not wait', async () => {
      const { session } = await waiting({}, [call('book', { seats: 3 }), call('F1')]);
      expect(await rejection(session.approve('call_9_9'))).toMatchObject({ code: 'unknown-call' });
      await session.reject('call_1_0');
      await resting(session);
      expect(await rejection(session.approve('call_1_1'))).toMatchObject({ code: 'call-settled' });
    });

    test('R26: with `gated` the other calls run while one waits', async () => {
      const { session } = await waiting({ approvals: { hold: 'gated' } }, [call('F1'), call('book', { seats: 3 })]);
      await session.reject('call_1_1');
      expect(results((await resting(session)).messages)).toEqual(['Result 1', 'Tool call invocation rejected.']);
    });

    test('R13: what the application answers waits for it', async () => {
      const { session, pending } = await waiting({}, [call('ask', { q: '?' }), call('F1')]);
      expect(pending).toMatchObject([{ callId: 'call_1_0', tool: 'ask', needs: 'result', input: { q: '?' } }]);
      expect(await rejection(session.approve('call_1_0'))).toMatchObject({ code: 'decision-conflict' });
      await session.respond('call_1_0', 'forty-two');
      await session.respond('call_1_0', 'forty-two');
      expect(results((await resting(session)).messages)).toEqual(['forty-two', 'Result 1']);
      expect(await rejection(session.respond('call_1_0', 'other'))).toMatchObject({ code: 'decision-conflict' });
    });

    test('R28: what is remembered for a tool is asked no more', async () => {
      const model = scriptedModel([calls(call('gate', { n: 1 })), calls(call('gate', { n: 2 })), 'one']);
      const gate = toolOf('gate', ({ n }) => `gate ${String(n)}`, { needsApproval: true });
      const session = await (await start({ model, tools: [gate] })).open();
      await session.send('go');
      await session.settled();
      await session.approve('call_1_0', { remember: 'tool' });
      expect(results((await resting(session)).messages)).toEqual(['gate 1', 'gate 2']);
    });

    test('R28: a policy decides for all tools', async () => {
      const policy = async ({ tool: name }: { tool: string }) => (name === 'F1' ? 'reject' : 'ask') as never;
      const { session } = await waiting({ approvals: { policy } }, [call('F1'), call('book', { seats: 1 })]);
      await session.approve('call_1_1');
      expect(results((await resting(session)).messages)).toEqual([
        'Tool call invocation rejected. declined by policy',
        'booked 1',
      ]);
    });

    test('R30: what nobody decides in time is a rejection', async () => {
      const ran: unknown[] = [];
      const gate = toolOf('gate', (input) => void ran.push(input), { needsApproval: true });
      const model = scriptedModel([calls(call('gate')), 'one']);
      const session = await (await start({ model, tools: [gate], approvals: { expireAfter: 40 } })).open();
      await session.send('go');
      expect(results((await resting(session)).messages)).toEqual(['Tool call invocation rejected. expired']);
      expect(ran).toEqual([]);
      expect(await rejection(session.approve('call_1_0'))).toMatchObject({ code: 'call-settled' });
    });

    test('R33: a message meanwhile is read after the round', async () => {
      const { session } = await waiting();
      const { fate } = await queued(session, 'more');
      await session.approve('call_1_0');
      expect(await fate).toEqual({ type: 'delivered' });
      await resting(session);
      expect(transcript((await session.look()).messages).slice(-3)).toEqual([
        'tool: booked 3',
        'user: more',
        'assistant: one',
      ]);
    });

    test('R33: with `supersede` a message takes the place of what waits', async () => {
      const { session, booked } = await waiting({ approvals: { onMessage: 'supersede' } });
      expect(await session.send('rather not')).toEqual({ type: 'delivered' });
      expect(results((await resting(session)).messages)).toEqual([
        'Tool call invocation rejected. superseded by a new message',
      ]);
      expect(booked).toEqual([]);
    });

    test('R33: with `refuse` a message is refused and changes nothing', async () => {
      const { session, pending } = await waiting({ approvals: { onMessage: 'refuse' } });
      expect(await session.send('hello?')).toEqual({ type: 'refused', reason: 'an approval is pending' });
      expect((await session.look()).pending).toEqual(pending);
    });

    test('who may not decide is refused, and the call waits on', async () => {
      const authorize = async ({ by }: { by?: string }) => by === 'ann';
      const { session, booked } = await waiting({ approvals: { authorize } });
      expect(await rejection(session.approve('call_1_0', { by: 'bob' }))).toMatchObject({ code: 'not-authorized' });
      await session.approve('call_1_0', { by: 'ann' });
      await resting(session);
      expect(booked).toHaveLength(1);
    });

    test('R35: a stop while it waits settles the call; a late decision is refused', async () => {
      const { session, booked } = await waiting();
      await session.stop('enough');
      const { outcome, messages } = await session.settled();
      expect(outcome).toEqual({ type: 'stopped', reason: 'enough' });
      expect(results(messages)).toHaveLength(1);
      expect(await rejection(session.approve('call_1_0'))).toMatchObject({ code: 'call-settled' });
      expect(booked).toEqual([]);
    });

    test('R36: a call that waits is cancelled', async () => {
      const { session } = await waiting({}, [call('book', { seats: 1 }), call('book', { seats: 2 })]);
      await session.cancel('call_1_0');
      const { pending } = await seen(session, ({ pending: { length } }) => length === 1);
      expect(pending).toMatchObject([{ callId: 'call_1_1' }]);
      await session.approve('call_1_1');
      expect(results((await resting(session)).messages)).toEqual([expect.stringContaining('cancelled'), 'booked 2']);
    });
  });
};
