import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../src/sessions/agent-options.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { expectWhole, inBothModes } from '../support/run.ts';
import { F1, F2, broken, call, calls, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const again = calls(call('broken'));
const good = calls(call('F1'));
const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

inBothModes('limits', (run) => {
  test('R20/D10: three failing rounds are reported, the fourth ends the turn with all errors of the last round', async () => {
    const model = scriptedModel([again, again, again, calls(call('broken'), call('F1'), call('nope'))]);
    const { error, result } = await run(createAgent({ model, tools: [F1, broken] }), 'hello');
    expect(error?.code).toBe('error-limit');
    expect(result.iterations).toBe(4);
    const outcome = result.outcome.type === 'failed' ? result.outcome : undefined;
    expect(outcome?.errors?.map(({ callId, tool, message }) => [callId, tool, message.slice(0, 25)])).toEqual([
      ['call_4_0', 'broken', 'Oh no!'],
      ['call_4_2', 'nope', 'Error: there is no tool n'],
    ]);
    expect(results(result.messages)).toHaveLength(6);
    model.assertFinished();
  });

  test('R20/L23: with 0 the first failing round ends the turn', async () => {
    const model = scriptedModel([again]);
    const { error } = await run(createAgent({ model, tools: [broken], limits: { maxConsecutiveErrors: 0 } }), 'hello');
    expect(error?.code).toBe('error-limit');
    expect(error?.message).toBe('1 round had errors, and limits.maxConsecutiveErrors is 0; the last: broken: Oh no!');
    model.assertFinished();
  });

  test('R20/L22: the errors of one round stand in call order', async () => {
    const numbered = toolOf('numbered', ({ n }) => {
      throw new Error(`error #${String(n)}`);
    });
    const model = scriptedModel([calls(call('numbered', { n: 11 }), call('numbered', { n: 12 }))]);
    const { result } = await run(
      createAgent({ model, tools: [numbered], limits: { maxConsecutiveErrors: 0 } }),
      'hello',
    );
    const errors = result.outcome.type === 'failed' ? result.outcome.errors : [];
    expect(errors?.map(({ message }) => message)).toEqual(['error #11', 'error #12']);
  });

  test('R20: `retry` goes on from the last settled state with a fresh count', async () => {
    const model = scriptedModel([again, again, 'mended']);
    const agent = createAgent({ model, tools: [broken], limits: { maxConsecutiveErrors: 1 } });
    const { session } = await run(agent, 'hello');
    await session.retry();
    const result = await session.settled();
    expect(result.text).toBe('mended');
    expect(results(result.messages)).toHaveLength(2);
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('R19: a clean round sets the counter to 0', async () => {
    const model = scriptedModel([again, good, again, good, again, 'world']);
    const { result } = await run(
      createAgent({ model, tools: [F1, broken], limits: { maxConsecutiveErrors: 1 } }),
      'hello',
    );
    expect(result.text).toBe('world');
    model.assertFinished();
  });

  test('R19/D13 (better): rounds of unknown tools and of bad arguments are failing rounds', async () => {
    const model = scriptedModel([calls(call('nope')), calls(call('F2', { i: 'x' })), calls(call('nope'))]);
    const { error } = await run(createAgent({ model, tools: [F2], limits: { maxConsecutiveErrors: 2 } }), 'hello');
    expect(error?.code).toBe('error-limit');
    model.assertFinished();
  });

  test('R19: a reply that was cut off with calls in it is a failing round', async () => {
    const model = scriptedModel([{ ...good, finishReason: 'length' }]);
    const { error } = await run(createAgent({ model, tools: [F1], limits: { maxConsecutiveErrors: 0 } }), 'hello');
    expect(error?.code).toBe('error-limit');
    expect(error?.message).toContain('reached its length limit');
  });

  test('a reply without calls that was cut off is the answer, and its model call tells how it ended', async () => {
    const model = scriptedModel([{ text: 'this far', finishReason: 'length' }]);
    const { result } = await run(createAgent({ model }), 'hello');
    expect(result).toMatchObject({ outcome: { type: 'answered' }, text: 'this far' });
    expect(result.modelCalls.at(-1)?.finishReason).toBe('length');
  });

  test('R21/L17: after N rounds one more model call without tools and without a tool choice: N+1 calls', async () => {
    const model = scriptedModel([good, good, 'this far']);
    const { result } = await run(
      createAgent({ model, tools: [F1], toolChoice: 'auto', limits: { maxIterations: 2 } }),
      'hello',
    );
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
    expect(result.text).toBe('this far');
    expect(model.requests.map(({ tools, toolChoice }) => [tools?.length, toolChoice])).toEqual([
      [1, 'auto'],
      [1, 'auto'],
      [undefined, undefined],
    ]);
    model.assertFinished();
  });

  test('R21/L16, D24: calls in the reply after the cap are not run and have a result', async () => {
    let runs = 0;
    const counted = toolOf('counted', () => (runs += 1));
    const model = scriptedModel([...many(7, calls(call('counted'))), { ...calls(call('counted')), text: 'so far' }]);
    const { result } = await run(createAgent({ model, tools: [counted], limits: { maxIterations: 7 } }), 'hello');
    expect(runs).toBe(7);
    expect(results(result.messages).at(-1)).toContain('the call was not run');
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
    expect(result.text).toBe('so far');
    model.assertFinished();
  });

  test('R6, R21: a last reply with nothing in it leaves no empty message behind', async () => {
    const model = scriptedModel([good, { text: '' }]);
    const { result } = await run(createAgent({ model, tools: [F1], limits: { maxIterations: 1 } }), 'hello');
    expect(result.outcome.type).toBe('limit');
    expect(result.text).toBe('');
    expect(transcript(result.messages).at(-1)).toBe('tool: Result 1');
  });

  test('R21: a provider that needs the tool list gets it with the tool choice none', async () => {
    const model = scriptedModel([good, 'this far']);
    const strict = { ...model, needsTools: true };
    await run(createAgent({ model: strict, tools: [F1], limits: { maxIterations: 1 } }), 'hello');
    expect(model.requests[1]).toMatchObject({ tools: [{ name: 'F1' }], toolChoice: 'none' });
  });

  test('R21: `pause` rests, and `retry` grants another N rounds', async () => {
    const model = scriptedModel([good, good, good, good, 'world']);
    const agent = createAgent({ model, tools: [F1], limits: { maxIterations: 2, onLimit: 'pause' } });
    const { result, session } = await run(agent, 'hello');
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
    expect(model.requests).toHaveLength(2);
    expect(session.actor.getSnapshot().matches({ done: 'limited' })).toBe(true);
    await session.retry();
    expect((await session.settled()).iterations).toBe(4);
    expect(model.requests).toHaveLength(4);
    await session.retry();
    expect((await session.settled()).text).toBe('world');
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('R21: `fail` fails with the code of the limit', async () => {
    const model = scriptedModel([good]);
    const agent = createAgent({ model, tools: [F1], limits: { maxIterations: 1, onLimit: 'fail' } });
    const { error, session } = await run(agent, 'hello');
    expect(error?.code).toBe('iteration-limit');
    expect(session.actor.getSnapshot().matches({ done: 'failed' })).toBe(true);
    model.assertFinished();
  });

  test('R21: the limit of one run beats that of the agent, and the next turn has its own', async () => {
    const model = scriptedModel([good, 'one', good, good, 'two']);
    const agent = createAgent({ model, tools: [F1] });
    const first = await run(agent, 'hello', { limits: { maxIterations: 1 } });
    expect(first.result.outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
    const second = await run(agent, 'more', { session: first.session });
    expect(second.result.outcome.type).toBe('answered');
    expect(second.result.iterations).toBe(2);
  });

  test('R22/LC80: a round that would exceed `maxToolCalls` runs nothing', async () => {
    let runs = 0;
    const counted = toolOf('counted', () => (runs += 1));
    const model = scriptedModel([
      calls(call('counted'), call('counted', { n: 1 })),
      calls(call('counted'), call('counted', { n: 1 })),
    ]);
    const { result } = await run(createAgent({ model, tools: [counted], limits: { maxToolCalls: 3 } }), 'hello');
    expect(runs).toBe(2);
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxToolCalls' });
    expect(results(result.messages).at(-1)).toContain('maxToolCalls');
    model.assertFinished();
  });

  test('R22: as many calls as `maxToolCalls` run', async () => {
    const model = scriptedModel([calls(call('F1'), call('F1', { n: 1 })), 'world']);
    const { result } = await run(createAgent({ model, tools: [F1], limits: { maxToolCalls: 2 } }), 'hello');
    expect(result.text).toBe('world');
  });

  test('R22: spent tokens stop the next round, not the answer; `retry` grants as many again', async () => {
    const usage = { inputTokens: 40, outputTokens: 20 };
    const model = scriptedModel([
      { ...good, usage },
      { ...good, usage },
      { ...good, usage },
      { text: 'world', usage },
    ]);
    const agent = createAgent({ model, tools: [F1], limits: { maxTokens: 100 } });
    const { result, session } = await run(agent, 'hello');
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxTokens' });
    expect(result.iterations).toBe(1);
    await session.retry();
    expect((await session.settled()).text).toBe('world');
    expectWhole(session.messages);
    model.assertFinished();
  });

  test.each(['maxTokens', 'maxToolCalls'] as const)('R22: %s with `fail` fails', async (limit) => {
    const model = scriptedModel([{ ...calls(call('F1'), call('F1', { n: 1 })), usage: { totalTokens: 5 } }]);
    const { error } = await run(createAgent({ model, tools: [F1], limits: { [limit]: 1, onLimit: 'fail' } }), 'hello');
    expect(error?.code).toBe(limit === 'maxTokens' ? 'token-limit' : 'tool-call-limit');
    expect(error?.message).toBe(
      limit === 'maxTokens'
        ? 'the turn reached its limit: limits.maxTokens: 1, tokens so far: 5'
        : 'the turn reached its limit: limits.maxToolCalls: 1, calls so far: 0, and the next round would go beyond it',
    );
  });

  test.each<[string, Partial<AgentOptions>, string]>([
    ['maxIterations', { limits: { maxIterations: 2, onLimit: 'fail' } }, 'limits.maxIterations: 2, rounds so far: 2'],
    [
      'stopWhen',
      { stopWhen: ({ iterations }) => iterations === 2, limits: { onLimit: 'fail' } },
      'option "stopWhen" gave true, rounds so far: 2',
    ],
    [
      'loopDetection',
      { loopDetection: { threshold: 2, stop: true }, limits: { onLimit: 'fail' } },
      'option "loopDetection", equal rounds in a row: 2',
    ],
  ])('R21, R22: with `fail` the error of %s names the option, and where the turn stood', async (_, options, says) => {
    const { error } = await run(createAgent({ ...options, model: scriptedModel([good, good]), tools: [F1] }), 'hello');
    expect(error?.message).toBe(`the turn reached its limit: ${says}`);
  });

  test('R22: `stopWhen` is asked after every round with rounds, usage and messages; true ends the turn', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel(many(3, { ...good, usage: { totalTokens: 5 } }));
    const agent = createAgent({
      model,
      tools: [F1],
      stopWhen: async ({ iterations, usage, messages }) => {
        seen.push([iterations, usage.totalTokens, messages.length]);
        return iterations === 3;
      },
    });
    const { result, session } = await run(agent, 'hello');
    expect(result.outcome).toEqual({ type: 'limit', limit: 'stopWhen' });
    expect(seen).toEqual([
      [1, 5, 3],
      [2, 10, 5],
      [3, 15, 7],
    ]);
    expect(session.actor.getSnapshot().matches({ done: 'limited' })).toBe(true);
    model.assertFinished();
  });

  test('R22: a `stopWhen` that comes to its end without a word goes on', async () => {
    const model = scriptedModel([good, 'world']);
    const agent = createAgent({ model, tools: [F1], stopWhen: (() => undefined) as unknown as () => boolean });
    expect((await run(agent, 'hello')).result.text).toBe('world');
    model.assertFinished();
  });

  test.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('Oh no!');
      },
      'Oh no!',
    ],
    ['rejects', () => Promise.reject(new Error('Oh no!')), 'Oh no!'],
    ['gives no boolean', () => 'yes', 'it must give true or false, gave string'],
  ])('R22: a `stopWhen` that %s fails the turn, which names it and can be retried', async (_, stopWhen, says) => {
    const model = scriptedModel([good, 'world']);
    const agent = createAgent({ model, tools: [F1], stopWhen: stopWhen as () => boolean });
    const { error, session, events } = await run(agent, 'hello');
    const message = `option "stopWhen" failed: ${says}`;
    expect(error).toMatchObject({ code: 'stop-when', message, cause: { cause: { message: says } } });
    const told = events.filter((event) => event.type === 'error').map((event) => event.error.message);
    expect(told).toEqual(events.length === 0 ? [] : [message]);
    expect(model.requests).toHaveLength(1);
    expectWhole(session.messages);
    await session.retry();
    expect((await session.settled()).text).toBe('world');
  });
});

describe('limits hold over a restore', () => {
  test('R21: rounds before a restore count', async () => {
    const gated = toolOf('gated', () => 'ok', { needsApproval: true });
    const model = scriptedModel([good, calls(call('gated')), 'this far']);
    const agent = createAgent({ model, tools: [F1, gated], limits: { maxIterations: 2 } });
    const { sessionId } = await agent.run('hello');
    const session = agent.restore((await agent.open(sessionId)).toJSON());
    await session.approve('call_2_0');
    expect((await session.settled()).outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
    model.assertFinished();
  });

  test('R20: failing rounds before a restore count', async () => {
    const gated = toolOf('gated', () => new Error('Oh no!'), { needsApproval: true });
    const model = scriptedModel([again, calls(call('gated'))]);
    const agent = createAgent({ model, tools: [broken, gated], limits: { maxConsecutiveErrors: 1 } });
    const { sessionId } = await agent.run('hello');
    const session = agent.restore((await agent.open(sessionId)).toJSON());
    await session.approve('call_2_0');
    await expect(session.settled()).rejects.toMatchObject({ code: 'error-limit' });
  });
});
