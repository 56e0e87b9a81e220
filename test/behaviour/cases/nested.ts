import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../../src/sessions/agent-options.ts';
import { createAgent } from '../../../src/sessions/create-agent.ts';
import { rejection } from '../../support/sessions.ts';
import { modelByHistory } from '../../support/models.ts';
import { call, calls, heldTool, toolOf } from '../../support/tools.ts';
import { results } from '../../support/transcript.ts';
import { type Cases, resting } from '../backend.ts';

export const nested: Cases = (start) => {
  const usage = { totalTokens: 10 };
  /** An agent that asks an agent, which calls its one tool. */
  const outerOf = (inner: Partial<AgentOptions>, name: string): AgentOptions => {
    const script = modelByHistory([
      { ...calls(call(name)), usage },
      { text: 'inner answer', usage },
    ]);
    const innermost = createAgent({ name: 'inner', model: script, stopGrace: 0, ...inner });
    return {
      stopGrace: 0,
      model: modelByHistory([
        { ...calls(call('inner', { prompt: 'help' }), call('inner', { prompt: 'help too' })), usage },
        { text: 'outer answer', usage },
      ]),
      tools: [innermost.asTool({ name: 'inner', description: 'asks' })],
    };
  };

  describe('agents inside agents', () => {
    test('R32: two at once each give their answer; what they used is counted above', async () => {
      const work = toolOf('work', () => 'worked');
      const session = await (await start(outerOf({ tools: [work] }, 'work'))).open();
      await session.send('go');
      const { text, messages, usage: total } = await session.settled();
      expect(text).toBe('outer answer');
      expect(results(messages)).toEqual(['inner answer', 'inner answer']);
      expect(total).toEqual({ totalTokens: 60 });
    });

    test('R32: what one of them waits for is listed and decided at the root, apart from the other, also after a restart', async () => {
      const ran: string[] = [];
      const gate = toolOf('gate', (_, { callId }) => void ran.push(callId), { needsApproval: true });
      const running = await start(outerOf({ tools: [gate] }, 'gate'));
      const { id, send, settled } = await running.open();
      await send('go');
      const { pending } = await settled();
      expect(pending.map(({ tool, path }) => [tool, path])).toEqual([
        ['gate', ['call_1_0']],
        ['gate', ['call_1_1']],
      ]);
      const [first, second] = pending.map(({ callId }) => callId) as [string, string];
      await (await running.open(id)).reject(first, { reason: 'no' });
      await running.restart();
      const session = await running.open(id);
      expect((await session.look()).pending.map(({ callId }) => callId)).toEqual([second]);
      expect(await rejection(session.approve(first))).toMatchObject({
        code: expect.stringMatching(/conflict|settled/),
      });
      await session.approve(second);
      const { text, messages } = await resting(session);
      expect(text).toBe('outer answer');
      expect(results(messages)).toEqual(['inner answer', 'inner answer']);
      expect(ran).toHaveLength(1);
    });

    test('R32, R35: a stop at the root reaches the tools at the bottom', async () => {
      const held = heldTool('held');
      const session = await (await start(outerOf({ tools: [held.tool] }, 'held'))).open();
      await session.send('go');
      await held.whenBegun(2);
      await session.stop();
      expect((await session.settled()).outcome).toEqual({ type: 'stopped' });
      expect(held.begun.map(({ signal }) => signal.aborted)).toEqual([true, true]);
      expect(new Set(held.begun.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
    });

    test('R32, R38: cut off at the bottom, each call there follows its own tool', async () => {
      const held = heldTool('held');
      const options = outerOf({ tools: [held.tool] }, 'held');
      const running = await start(options);
      const { id, send } = await running.open();
      await send('go');
      await held.whenBegun(2);
      await running.restart();
      const session = await running.open(id);
      const { text, messages } = await resting(session);
      expect(text).toBe('outer answer');
      expect(results(messages)).toEqual(['inner answer', 'inner answer']);
      expect(held.begun).toHaveLength(2);
    });
  });
};
