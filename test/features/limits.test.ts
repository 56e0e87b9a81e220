import { describe, expect, test } from 'vitest';
import { ModelError } from '../../src/models/model-error.ts';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Session } from '../../src/sessions/session.ts';
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts';
import { manualClock } from '../support/manual-clock.ts';
import { expectWhole, inBothModes, resting } from '../support/run.ts';
import { reopened, saved } from '../support/sessions.ts';
import { F1, call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const deadline = { type: 'limit', limit: 'deadline' };
const gate = toolOf('gate', () => 'gate ran', { needsApproval: true });
/** An answer that never comes; it tells when it is asked for, and ends when it is aborted. */
const silence =
  (asked: (signal: AbortSignal) => void): ScriptedAnswer =>
  (_, { signal }) => {
    asked(signal);
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  };

const acting = async (options: { limits: object; answers?: readonly ScriptedAnswer[] }) => {
  const clock = manualClock();
  const held = heldTool('held');
  const model = scriptedModel([calls(call('held'), call('F1')), ...(options.answers ?? [])]);
  const agent = createAgent({ model, tools: [held.tool, F1], clock, limits: options.limits, stopGrace: 50 });
  const session = await agent.open();
  void session.send('go').catch(() => undefined);
  await held.whenBegun(1);
  return { clock, held, model, agent, session };
};

describe('R22: deadline', () => {
  test('running tools are stopped, what is done is kept, the turn rests as limited, and no timer is left', async () => {
    const { clock, held, session, model } = await acting({ limits: { deadline: 1000 } });
    clock.advance(999);
    expect(held.begun[0]?.signal.aborted).toBe(false);
    clock.advance(1);
    await clock.armed();
    expect(held.begun[0]?.signal.aborted).toBe(true);
    clock.advance(50);
    const result = await session.settled();
    expect(result.outcome).toEqual(deadline);
    expect(results(result.messages)).toEqual([expect.stringMatching(/outcome is unknown/), 'Result 1']);
    expect(session.actor.getSnapshot().matches({ done: 'limited' })).toBe(true);
    expect(clock.timers).toBe(0);
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('what a tool still gives within the grace is its result', async () => {
    const { clock, held, session } = await acting({ limits: { deadline: 1000 } });
    clock.advance(1000);
    await clock.armed();
    held.end(0, 'just in time');
    const result = await session.settled();
    expect(results(result.messages)).toEqual(['just in time', 'Result 1']);
    expect(result.outcome).toEqual(deadline);
  });

  test('a model that thinks too long is aborted', async () => {
    const clock = manualClock();
    const asked = Promise.withResolvers<AbortSignal>();
    const agent = createAgent({ model: scriptedModel([silence(asked.resolve)]), clock, limits: { deadline: 1000 } });
    const running = agent.run('go');
    const signal = await asked.promise;
    clock.advance(1000);
    expect((await running).outcome).toEqual(deadline);
    expect(signal.aborted).toBe(true);
    expect(clock.timers).toBe(0);
  });

  test('waiting between two tries of the model counts', async () => {
    const clock = manualClock();
    const passing = scriptedModel([new ModelError('model-request-failed', 'down', { transient: true }), 'never']);
    const agent = createAgent({ model: passing, clock, limits: { deadline: 400 }, retry: { initialDelay: 500 } });
    const running = agent.run('go');
    while (clock.timers < 2) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(400);
    expect((await running).outcome).toEqual(deadline);
    expect(passing.requests).toHaveLength(1);
  });

  test('time in which people are waited for does not count, nor while the session is closed', async () => {
    const clock = manualClock();
    const held = heldTool('held');
    const model = scriptedModel([calls(call('gate')), calls(call('ask')), calls(call('held')), 'done']);
    const agent = createAgent({
      model,
      tools: [gate, outsideTool('ask'), held.tool],
      clock,
      limits: { deadline: 1000 },
    });
    const first = await agent.open();
    void first.send('go');
    await first.settled();
    expect(clock.timers).toBe(0);
    clock.advance(5000);
    const document = saved(first);
    await first[Symbol.asyncDispose]();
    clock.advance(1e9);
    const session = agent.restore(document);
    await session.approve('call_1_0');
    await session.settled();
    clock.advance(5000);
    await session.respond('call_2_0', 'yes');
    await held.whenBegun(1);
    clock.advance(999);
    expect(held.begun[0]?.signal.aborted).toBe(false);
    held.end(0);
    expect((await session.settled()).text).toBe('done');
    expect(clock.timers).toBe(0);
    expectWhole(session.messages);
  });

  test('stretches of work add up', async () => {
    const clock = manualClock();
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held')), calls(call('gate')), calls(call('held')), 'never']);
    const agent = createAgent({ model, tools: [gate, held.tool], clock, limits: { deadline: 1000 }, stopGrace: 0 });
    const session = await agent.open();
    void session.send('go');
    await held.whenBegun(1);
    clock.advance(600);
    held.end(0);
    await session.settled();
    clock.advance(600);
    await session.approve('call_2_0');
    await held.whenBegun(2);
    clock.advance(399);
    expect(session.status).toBe('busy');
    clock.advance(1);
    expect((await session.settled()).outcome).toEqual(deadline);
    expectWhole(session.messages);
  });

  test('a call that waits for a decision while others run: the work of the others counts, and the deadline ends both', async () => {
    const clock = manualClock();
    const held = heldTool('held');
    const model = scriptedModel([calls(call('gate'), call('held'))]);
    const agent = createAgent({
      model,
      tools: [gate, held.tool],
      clock,
      limits: { deadline: 1000 },
      stopGrace: 0,
      approvals: { hold: 'gated' },
    });
    const session = await agent.open();
    void session.send('go');
    await held.whenBegun(1);
    clock.advance(1000);
    const result = await resting(session);
    expect(result.outcome).toEqual(deadline);
    expect(results(result.messages)).toEqual([
      expect.stringMatching(/before it started/),
      expect.stringMatching(/unknown/),
    ]);
    expectWhole(session.messages);
  });

  test('it survives a restore of a session that works', async () => {
    const { clock, held, session } = await acting({ limits: { deadline: 1000 } });
    clock.advance(700);
    const document = saved(session);
    await session[Symbol.asyncDispose]();
    held.end(0);
    const later = createAgent({
      model: scriptedModel([silence(() => undefined)]),
      tools: [held.tool, F1],
      clock,
      limits: { deadline: 1000 },
    }).restore(document);
    await clock.armed();
    clock.advance(299);
    expect(later.status).toBe('busy');
    clock.advance(1);
    expect((await resting(later)).outcome).toEqual(deadline);
    expectWhole(later.messages);
  });

  test('with `fail` the turn fails with a code of its own; nothing is lost', async () => {
    const { clock, session } = await acting({ limits: { deadline: 1000, onLimit: 'fail' } });
    clock.advance(1000);
    await clock.armed();
    clock.advance(50);
    await expect(resting(session)).rejects.toMatchObject({ code: 'deadline' });
    expect(results(session.messages)).toHaveLength(2);
    expectWhole(session.messages);
  });

  test('`retry` grants as much again', async () => {
    const { clock, held, session } = await acting({
      limits: { deadline: 1000 },
      answers: [calls(call('held')), 'done'],
    });
    clock.advance(1000);
    await clock.armed();
    clock.advance(50);
    await session.settled();
    clock.advance(1e6);
    await session.retry();
    await held.whenBegun(2);
    clock.advance(999);
    held.end(1, 'in time');
    expect((await session.settled()).text).toBe('done');
    expectWhole(session.messages);
  });

  test('the next turn has its own, and one run can have another', async () => {
    const clock = manualClock();
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held')), 'one', calls(call('held')), 'never']);
    const agent = createAgent({ model, tools: [held.tool], clock, limits: { deadline: 1000 }, stopGrace: 0 });
    const session = await agent.open();
    void session.send('a');
    await held.whenBegun(1);
    clock.advance(900);
    held.end(0);
    await session.settled();
    const short = agent.run('b', { session, limits: { deadline: 200 } });
    await held.whenBegun(2);
    clock.advance(200);
    expect((await short).outcome).toEqual(deadline);
  });

  test.each([
    ['before', 999, 1],
    ['after', 1000, 0],
  ])('a stop by a person %s the deadline strikes is a stop', async (_, before, then) => {
    const { clock, session } = await acting({ limits: { deadline: 1000 } });
    clock.advance(before);
    await Promise.resolve();
    const stopping = session.stop('enough');
    await clock.armed();
    clock.advance(then);
    clock.advance(50);
    await stopping;
    expect((await session.settled()).outcome).toEqual({ type: 'stopped', reason: 'enough' });
    expectWhole(session.messages);
  });
});

inBothModes('R22: stopWhen', (run) => {
  test('is asked after each round with what the turn came to; true ends it, named; `retry` goes on', async () => {
    const asked: unknown[] = [];
    const context = { live: true };
    const usage = { inputTokens: 3, outputTokens: 1, totalTokens: 4 };
    const model = scriptedModel([{ ...calls(call('F1')), usage }, { ...calls(call('F1', { n: 2 })), usage }, 'done']);
    const agent = createAgent({
      model,
      tools: [F1],
      stopWhen: (ctx) => {
        asked.push([ctx.iterations, ctx.usage.totalTokens, ctx.messages.length, ctx.context]);
        return ctx.iterations === 2;
      },
    });
    const { result, session } = await run(agent, 'go', { context });
    expect(asked).toEqual([
      [1, 4, 3, context],
      [2, 8, 5, context],
    ]);
    expect(result.outcome).toEqual({ type: 'limit', limit: 'stopWhen' });
    await session.retry();
    expect((await session.settled()).text).toBe('done');
    expectWhole(session.messages);
  });

  test('with `fail` it fails; it is not asked where the model answers', async () => {
    const stopWhen = () => true;
    const model = scriptedModel(['one', calls(call('F1'))]);
    const agent = createAgent({ model, tools: [F1], stopWhen, limits: { onLimit: 'fail' } });
    expect((await run(agent, 'a')).result.text).toBe('one');
    const { error } = await run(agent, 'b');
    expect(error?.code).toBe('stop-when');
  });
});

test('R22: a session that was saved while `stopWhen` thinks asks again', async () => {
  const asked = Promise.withResolvers<void>();
  const model = scriptedModel([calls(call('F1'))]);
  const slow = createAgent({
    model,
    tools: [F1],
    stopWhen: () => {
      asked.resolve();
      return new Promise<boolean>(() => undefined);
    },
  });
  const session = await slow.open();
  void session.send('go').catch(() => undefined);
  await asked.promise;
  const later = createAgent({ model, tools: [F1], stopWhen: () => true }).restore(saved(session));
  expect((await resting(later)).outcome).toEqual({ type: 'limit', limit: 'stopWhen' });
  expectWhole(later.messages);
});

const suspected = (events: readonly AgentEvent[]) => events.filter(({ type }) => type === 'loop-suspected');

describe('R23: loops', () => {
  const read = async (session: Session, events: AgentEvent[]): Promise<void> => {
    for await (const event of session.events()) events.push(event);
  };
  const turnOf = async (
    rounds: readonly ScriptedAnswer[],
    options: Partial<Parameters<typeof createAgent>[0]> = {},
  ) => {
    const model = scriptedModel([...rounds, 'done', 'done']);
    const agent = createAgent({ model, tools: [F1], ...options });
    const stream = agent.stream('go');
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    const result = await stream.result;
    expectWhole((await agent.open(result.sessionId)).messages);
    return { events, result, model };
  };
  const same = calls(call('F1', { a: 1, b: { c: 2, d: 3 } }));

  test('the third equal round in a row is told, with its tools, and the turn goes on', async () => {
    const { events, result } = await turnOf([same, same, same, same]);
    expect(suspected(events)).toEqual([
      { type: 'loop-suspected', tools: ['F1'], count: 3 },
      { type: 'loop-suspected', tools: ['F1'], count: 4 },
    ]);
    expect(result.text).toBe('done');
  });

  test('two are not enough, nor three with another one between', async () => {
    const other = calls(call('F1', { a: 2 }));
    expect(suspected((await turnOf([same, same])).events)).toEqual([]);
    expect(suspected((await turnOf([same, same, other, same])).events)).toEqual([]);
  });

  test('the threshold can be set; `stop` ends the turn there, `retry` begins to count anew', async () => {
    const model = scriptedModel([same, same, same, 'done']);
    const agent = createAgent({ model, tools: [F1], loopDetection: { threshold: 2, stop: true } });
    const { outcome, sessionId } = await agent.run('go');
    expect(outcome).toEqual({ type: 'limit', limit: 'loopDetection' });
    expect(model.requests).toHaveLength(2);
    const session = await agent.open(sessionId);
    await session.retry();
    expect((await session.settled()).text).toBe('done');
    expectWhole(session.messages);
  });

  test('with `fail` it is a failure of its own name', async () => {
    const agent = createAgent({
      model: scriptedModel([same, same, same]),
      tools: [F1],
      loopDetection: { stop: true },
      limits: { onLimit: 'fail' },
    });
    await expect(agent.run('go')).rejects.toMatchObject({ code: 'loop-detected' });
  });

  test('neither the order of calls nor that of keys, at any depth, makes rounds different', async () => {
    const pair = [call('F1', { a: 1, b: { c: 2, d: 3 } }), call('F1', { a: 9 })];
    const turned = [call('F1', { a: 9 }), call('F1', { b: { d: 3, c: 2 }, a: 1 })];
    const { events } = await turnOf([calls(...pair), calls(...turned), calls(...pair)]);
    expect(suspected(events)).toMatchObject([{ count: 3 }]);
  });

  test('another result, another argument, another tool, or another number of calls is another round', async () => {
    let n = 0;
    const ticking = toolOf('ticking', () => (n += 1));
    const twin = toolOf('twin', () => 'Result 1');
    const tools = [F1, ticking, twin];
    const tick = calls(call('ticking'));
    expect(suspected((await turnOf([tick, tick, tick], { tools })).events)).toEqual([]);
    expect(
      suspected((await turnOf([calls(call('F1')), calls(call('twin')), calls(call('F1'))], { tools })).events),
    ).toEqual([]);
    const two = calls(call('F1'), call('F1'));
    expect(suspected((await turnOf([calls(call('F1')), two, calls(call('F1'))], { tools })).events)).toEqual([]);
  });

  test('errors are results: the same unknown tool three times is a loop', async () => {
    const unknown = calls(call('nope'));
    const { events } = await turnOf([unknown, unknown, unknown]);
    expect(suspected(events)).toMatchObject([{ tools: ['nope'] }]);
  });

  test('tools that poll do not count, and do not hide what stands beside them', async () => {
    let n = 0;
    const poll = toolOf('poll', () => 'pending', { polling: true });
    const ticking = toolOf('tick', () => (n += 1), { polling: true });
    const tools = [F1, poll, ticking];
    const polling = calls(call('poll'));
    expect(suspected((await turnOf([polling, polling, polling, polling], { tools })).events)).toEqual([]);
    const mixed = calls(call('F1'), call('tick'));
    expect(suspected((await turnOf([mixed, mixed, mixed], { tools })).events)).toMatchObject([{ count: 3 }]);
    expect(suspected((await turnOf([same, same, polling, same], { tools })).events)).toEqual([]);
  });

  test('rounds before a restore count', async () => {
    const gated = toolOf('gated', () => 'same', { needsApproval: true });
    const again = calls(call('gated'));
    const agent = createAgent({ model: scriptedModel([again, again, again, 'done']), tools: [gated] });
    let session = await agent.open();
    void session.send('go');
    const events: AgentEvent[] = [];
    for (const round of [1, 2, 3]) {
      await session.settled();
      const before = session;
      session = reopened(agent, session);
      await before[Symbol.asyncDispose]();
      void read(session, events);
      await session.approve(`call_${round}_0`);
    }
    await session.settled();
    expect(suspected(events)).toMatchObject([{ count: 3 }]);
    expect(transcript(session.messages).at(-1)).toBe('assistant: done');
  });

  test('a turn does not count for the next one', async () => {
    const model = scriptedModel([same, same, 'one', same, 'two']);
    const agent = createAgent({ model, tools: [F1], loopDetection: { stop: true } });
    const { sessionId } = await agent.run('a');
    expect((await agent.run('b', { session: sessionId })).text).toBe('two');
  });
});
