import { describe, expect, test } from 'vitest';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { manualClock } from '../support/manual-clock.ts';
import { expectWhole, resting } from '../support/run.ts';
import { F1, call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

/** A tool that ends as soon as its signal aborts. */
const obedient = (began: () => void) =>
  toolOf('obedient', (_, { signal }) => {
    began();
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  });

describe('stop (R35)', () => {
  test('R35: while the model thinks: its request is aborted, the session takes the next message', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const model = scriptedModel([
      (_, { signal }) => {
        asked.resolve(signal);
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      },
      'two',
    ]);
    const session = await createAgent({ model }).open();
    void session.send('hello');
    const signal = await asked.promise;
    await session.stop('enough');
    expect(signal.aborted).toBe(true);
    expect((await session.settled()).outcome).toEqual({ type: 'stopped', reason: 'enough' });
    expect(session.actor.getSnapshot().matches({ done: 'stopped' })).toBe(true);
    await session.send('more');
    expect((await session.settled()).text).toBe('two');
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('R35: before the model is asked at all it is never asked', async () => {
    const model = scriptedModel([]);
    const session = await createAgent({ model }).open();
    void session.send('hello');
    await session.stop();
    expect((await session.settled()).outcome).toEqual({ type: 'stopped' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(model.requests).toHaveLength(0);
  });

  test('R35: a running tool gets its signal and settles as stopped; siblings that did not start too', async () => {
    const began = Promise.withResolvers<void>();
    const model = scriptedModel([calls(call('F1'), call('obedient'), call('F1', { n: 1 }))]);
    const session = await createAgent({ model, tools: [F1, obedient(() => began.resolve())], concurrency: 1 }).open();
    void session.send('hello');
    await began.promise;
    await session.stop();
    const result = await session.settled();
    expect(result.outcome.type).toBe('stopped');
    expect(results(result.messages)).toEqual([
      'Result 1',
      'Error: the call was stopped while it ran; its outcome is unknown.',
      'Error: the call was stopped before it started.',
    ]);
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('R35: a tool that ignores its signal is left behind after `stopGrace`', async () => {
    const clock = manualClock();
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held')), 'two']);
    const session = await createAgent({ model, tools: [held.tool], clock, stopGrace: 300 }).open();
    void session.send('hello');
    await held.whenBegun(1);
    const stopped = session.stop();
    expect(await clock.armed()).toBe(300);
    expect(session.status).toBe('busy');
    clock.advance(299);
    expect(session.status).toBe('busy');
    clock.advance(1);
    await stopped;
    expect(results(session.messages)).toEqual(['Error: the call was stopped while it ran; its outcome is unknown.']);
    held.end(0, 'too late');
    await session.send('more');
    expect((await session.settled()).text).toBe('two');
    expect(results(session.messages)).toHaveLength(1);
    expectWhole(session.messages);
    expect(clock.timers).toBe(0);
  });

  test('R35: the default grace is one second', async () => {
    const clock = manualClock();
    const held = heldTool('held');
    const session = await createAgent({
      model: scriptedModel([calls(call('held'))]),
      tools: [held.tool],
      clock,
    }).open();
    void session.send('hello');
    await held.whenBegun(1);
    void session.stop();
    expect(await clock.armed()).toBe(1000);
  });

  test('R35: what a tool still gives within the grace is its result', async () => {
    const clock = manualClock();
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held'))]);
    const session = await createAgent({ model, tools: [held.tool], clock }).open();
    void session.send('hello');
    await held.whenBegun(1);
    const stopped = session.stop();
    held.end(0, 'just in time');
    await stopped;
    expect(results(session.messages)).toEqual(['just in time']);
    expect((await session.settled()).outcome.type).toBe('stopped');
  });

  test('R35: while people are waited for', async () => {
    const gated = toolOf('gated', () => 'ran', { needsApproval: true });
    const model = scriptedModel([calls(call('gated'), call('outside')), 'two']);
    const agent = createAgent({ model, tools: [gated, outsideTool('outside')] });
    const session = await agent.open((await agent.run('hello')).sessionId);
    await session.stop('never mind');
    expect((await session.settled()).outcome).toEqual({ type: 'stopped', reason: 'never mind' });
    expect(session.pending).toEqual([]);
    expect(results(session.messages)).toHaveLength(2);
    expectWhole(session.messages);
    await session.retry();
    expect((await session.settled()).text).toBe('two');
  });

  test('R35: while a model call backs off', async () => {
    const clock = manualClock();
    const { ModelError } = await import('../../src/models/model-error.ts');
    const model = scriptedModel([new ModelError('model-request-failed', 'busy', { transient: true }), 'two']);
    const session = await createAgent({ model, clock }).open();
    void session.send('hello');
    await clock.armed();
    await session.stop();
    expect(clock.timers).toBe(0);
    await session.retry();
    expect((await session.settled()).text).toBe('two');
  });

  test('R35: while a tool backs off', async () => {
    const clock = manualClock();
    const flaky = toolOf('flaky', () => new Error('Oh no!'), { retry: { attempts: 5 } });
    const session = await createAgent({ model: scriptedModel([calls(call('flaky'))]), tools: [flaky], clock }).open();
    void session.send('hello');
    await clock.armed();
    await session.stop();
    expect((await session.settled()).outcome.type).toBe('stopped');
    expect(results(session.messages)).toHaveLength(1);
    expect(clock.timers).toBe(0);
  });

  test('R35: while `stopWhen` thinks', async () => {
    const asked = Promise.withResolvers<void>();
    const model = scriptedModel([calls(call('F1'))]);
    const session = await createAgent({
      model,
      tools: [F1],
      stopWhen: () => {
        asked.resolve();
        return new Promise<boolean>(() => undefined);
      },
    }).open();
    void session.send('hello');
    await asked.promise;
    await session.stop();
    expect((await session.settled()).outcome.type).toBe('stopped');
    expectWhole(session.messages);
  });

  test('R35: while arguments are checked', async () => {
    const checking = Promise.withResolvers<void>();
    const slow = toolOf('slow', () => 'ran', {
      needsApproval: () => {
        checking.resolve();
        return new Promise<boolean>(() => undefined);
      },
    });
    const session = await createAgent({ model: scriptedModel([calls(call('slow'))]), tools: [slow] }).open();
    void session.send('hello');
    await checking.promise;
    await session.stop();
    expect(results(session.messages)).toEqual(['Error: the call was stopped before it started.']);
  });

  test('R35: twice, and where nothing runs, it does no harm', async () => {
    const held = heldTool('held');
    const clock = manualClock();
    const model = scriptedModel([calls(call('held')), 'two']);
    const session = await createAgent({ model, tools: [held.tool], clock }).open();
    await session.stop();
    expect(session.status).toBe('idle');
    void session.send('hello');
    await held.whenBegun(1);
    const both = Promise.all([session.stop('one'), session.stop('two')]);
    await clock.armed();
    clock.advance(1000);
    await both;
    const before = session.toJSON();
    await session.stop();
    expect(session.toJSON()).toEqual(before);
    expectWhole(session.messages);
  });

  test('R35: a stop that was under way when the session was saved goes on after a restore', async () => {
    const clock = manualClock();
    const held = heldTool('held', { annotations: { readOnly: true } });
    const agent = createAgent({ model: scriptedModel([calls(call('held'))]), tools: [held.tool], clock });
    const session = await agent.open();
    void session.send('hello').catch(() => undefined);
    await held.whenBegun(1);
    void session.stop().catch(() => undefined);
    await clock.armed();
    const restored = agent.restore(session.toJSON());
    await session[Symbol.asyncDispose]();
    expect((await resting(restored)).outcome.type).toBe('stopped');
    expectWhole(restored.messages);
  });

  test.each([
    ['a tool that may run again', { annotations: { idempotent: true } }],
    ['a tool that is to run again', { onInterrupted: 'retry' }],
  ] as const)('R35, R38: a stop under way and %s: nothing begins again after a restore', async (_, options) => {
    const clock = manualClock();
    const stubborn = heldTool('stubborn', options);
    const shared = { tools: [stubborn.tool], clock };
    const session = await createAgent({ ...shared, model: scriptedModel([calls(call('stubborn'))]) }).open();
    void session.send('hello');
    await stubborn.whenBegun(1);
    const stopped = session.stop('enough');
    const restored = createAgent({ ...shared, model: scriptedModel([]) }).restore(session.toJSON());
    expect((await resting(restored)).outcome).toEqual({ type: 'stopped', reason: 'enough' });
    expect(results(restored.messages)).toEqual(['Error: the call was stopped while it ran; its outcome is unknown.']);
    expect(stubborn.begun).toHaveLength(1);
    clock.advance(1000);
    await stopped;
  });

  test('R35, R38: a stop under way and a tool that wants to be asked after a restore: nobody is asked', async () => {
    const clock = manualClock();
    const held = heldTool('held', { onInterrupted: 'ask' });
    const agent = createAgent({ model: scriptedModel([calls(call('held'))]), tools: [held.tool], clock });
    const session = await agent.open();
    void session.send('hello').catch(() => undefined);
    await held.whenBegun(1);
    void session.stop().catch(() => undefined);
    await clock.armed();
    const restored = agent.restore(session.toJSON());
    expect((await resting(restored)).outcome.type).toBe('stopped');
    expect(results(restored.messages)).toHaveLength(1);
    await session[Symbol.asyncDispose]();
  });
});

describe('cancel (R36)', () => {
  test('R36: one call settles as cancelled and the round goes on', async () => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held'), call('held', { n: 1 })), 'world']);
    const session = await createAgent({ model, tools: [held.tool] }).open();
    void session.send('hello');
    await held.whenBegun(2);
    await session.cancel('call_1_0');
    expect(held.begun[0]?.signal.aborted).toBe(true);
    expect(held.begun[1]?.signal.aborted).toBe(false);
    held.end(1, 'ran');
    const result = await session.settled();
    expect(results(result.messages)).toEqual([
      'Error: the call was cancelled while it ran; its outcome is unknown.',
      'ran',
    ]);
    expect(result.text).toBe('world');
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('R19, R36: a cancelled call is no error of its round', async () => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held')), 'world']);
    const session = await createAgent({ model, tools: [held.tool], limits: { maxConsecutiveErrors: 0 } }).open();
    void session.send('hello');
    await held.whenBegun(1);
    await session.cancel('call_1_0');
    expect((await session.settled()).text).toBe('world');
  });

  test('R7, R36: a call that waits for a slot is cancelled without a start; a free slot is used', async () => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held'), call('held', { n: 1 }), call('held', { n: 2 })), 'world']);
    const session = await createAgent({ model, tools: [held.tool], concurrency: 1 }).open();
    void session.send('hello');
    await held.whenBegun(1);
    await session.cancel('call_1_1');
    await session.cancel('call_1_0');
    await held.whenBegun(2);
    expect(held.begun[1]?.callId).toBe('call_1_2');
    held.end(1, 'ran');
    expect(results((await session.settled()).messages)).toEqual([
      'Error: the call was cancelled while it ran; its outcome is unknown.',
      'Error: the call was cancelled before it started.',
      'ran',
    ]);
  });

  test('R36: of a call that waits for people', async () => {
    const gated = toolOf('gated', () => 'ran', { needsApproval: true });
    const model = scriptedModel([calls(call('gated'), call('outside')), 'world']);
    const agent = createAgent({ model, tools: [gated, outsideTool('outside')], approvals: { hold: 'gated' } });
    const session = await agent.open((await agent.run('hello')).sessionId);
    await session.cancel('call_1_0');
    await session.cancel('call_1_1');
    expect((await session.settled()).text).toBe('world');
    expectWhole(session.messages);
  });

  test('R36: of a call that does not exist is refused; of a settled one it does nothing', async () => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('F1'), call('held')), 'world']);
    const session = await createAgent({ model, tools: [F1, held.tool] }).open();
    void session.send('hello');
    await held.whenBegun(1);
    await expect(session.cancel('call_9_9')).rejects.toMatchObject({ code: 'unknown-call' });
    await session.cancel('call_1_0');
    held.end(0, 'ran');
    await session.settled();
    expect(transcript(session.messages)).toContain('tool: Result 1 | ran');
    await expect(session.cancel('call_1_0')).rejects.toMatchObject({ code: 'unknown-call' });
  });
});
