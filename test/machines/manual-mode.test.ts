import { expect, test } from 'vitest';
import type { ToolMessage } from '../../src/messages/message.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { inBothModes } from '../support/run.ts';
import { call, calls, outsideTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const answer = (...given: [callId: string, tool: string, value: string][]): ToolMessage => ({
  role: 'tool',
  content: given.map(([toolCallId, toolName, value]) => ({
    type: 'tool-result',
    toolCallId,
    toolName,
    output: { type: 'text', value },
  })),
});

inBothModes('manual mode (R45)', (run) => {
  const make = (answers: Parameters<typeof scriptedModel>[0]) => {
    let runs = 0;
    const model = scriptedModel(answers);
    const counted = toolOf('counted', () => (runs += 1), { needsApproval: true });
    return { model, agent: createAgent({ model, tools: [counted], autopilot: false }), runs: () => runs };
  };

  test('R45/L43: the reply goes to the caller as it is; nothing is run or asked; tools are advertised', async () => {
    const { model, agent, runs } = make([{ ...calls(call('counted', { n: 1 }), call('nope')), text: 'Let me look.' }]);
    const { result, session } = await run(agent, 'hello');
    expect(result.outcome).toEqual({ type: 'tool-calls' });
    expect(result.text).toBe('Let me look.');
    expect(transcript(result.messages)).toEqual(['user: hello', 'assistant: Let me look. | counted{"n":1} | nope{}']);
    expect(result.pending.map(({ callId }) => callId)).toEqual([]);
    expect(session.status).toBe('settled');
    expect(session.actor.getSnapshot().matches({ done: 'tool-calls' })).toBe(true);
    expect(runs()).toBe(0);
    expect(model.requests[0]?.tools).toHaveLength(1);
    model.assertFinished();
  });

  test('R45: a reply without calls is an answer', async () => {
    const { agent } = make(['world']);
    expect((await run(agent, 'hello')).result.outcome).toEqual({ type: 'answered' });
  });

  test('R45: the caller sends the results with the next message, in any order', async () => {
    const { model, agent } = make([calls(call('counted', { n: 1 }, 'p1'), call('counted', { n: 2 }, 'p2')), 'world']);
    const { session } = await run(agent, 'hello');
    const { result } = await run(agent, [answer(['call_1_1', 'counted', 'two'], ['call_1_0', 'counted', 'one'])], {
      session,
    });
    expect(result.text).toBe('world');
    expect(transcript(session.messages)).toEqual([
      'user: hello',
      'assistant: counted{"n":1} | counted{"n":2}',
      'tool: one | two',
      'assistant: world',
    ]);
    expect(model.requests[1]?.messages[2]).toMatchObject({ content: [{ toolCallId: 'p1' }, { toolCallId: 'p2' }] });
    model.assertFinished();
  });

  test('R6, R45: what the caller leaves open is settled as cancelled', async () => {
    const { agent } = make([calls(call('counted', { n: 1 }), call('counted', { n: 2 })), 'world']);
    const { session } = await run(agent, 'hello');
    await run(agent, [answer(['call_1_1', 'counted', 'two']), { role: 'user', content: 'Go on.' }], { session });
    expect(results(session.messages)).toEqual([expect.stringContaining('cancelled'), 'two']);
    expect(transcript(session.messages)[3]).toBe('user: Go on.');
  });

  test('R6, R45: a text without results settles all open calls; a result for a call that nobody made is left out', async () => {
    const { agent } = make([calls(call('counted')), 'one', 'two']);
    const { session } = await run(agent, 'hello');
    await run(agent, 'never mind', { session });
    expect(results(session.messages)).toEqual([expect.stringContaining('cancelled')]);
    await run(agent, [answer(['call_9_9', 'counted', 'x']), { role: 'user', content: 'more' }], { session });
    expect(results(session.messages)).toHaveLength(1);
  });

  test('R45: open calls survive a save and a load', async () => {
    const { agent } = make([calls(call('counted')), 'world']);
    const { session } = await run(agent, 'hello');
    const restored = agent.restore(JSON.stringify(session.toJSON()));
    const { result } = await run(agent, answer(['call_1_0', 'counted', 'one']), { session: restored });
    expect(result.text).toBe('world');
    expect(results(restored.messages)).toEqual(['one']);
  });

  test('R45: there is nothing to retry, to stop or to cancel in a turn that is the caller’s', async () => {
    const { agent } = make([calls(call('counted'))]);
    const { session } = await run(agent, 'hello');
    const before = session.toJSON();
    await expect(session.retry()).rejects.toMatchObject({ code: 'nothing-to-retry' });
    await session.stop();
    expect(session.toJSON()).toEqual(before);
  });

  test('R13, R45: tools without `execute` are the caller’s as well', async () => {
    const model = scriptedModel([calls(call('outside'))]);
    const agent = createAgent({ model, tools: [outsideTool('outside')], autopilot: false });
    expect((await run(agent, 'hello')).result.outcome).toEqual({ type: 'tool-calls' });
  });
});
