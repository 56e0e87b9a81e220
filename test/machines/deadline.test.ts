import { expect, test } from 'vitest';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { manualClock } from '../support/manual-clock.ts';
import { expectWhole, inBothModes, resting } from '../support/run.ts';
import { call, calls, heldTool, toolOf } from '../support/tools.ts';
import { results } from '../support/transcript.ts';

const gated = toolOf('gated', () => 'gated ran', { needsApproval: true });

inBothModes('the deadline (R22)', (run) => {
  test('R22: it ends a turn whose model thinks too long; its request is aborted', async () => {
    const clock = manualClock();
    const asked = Promise.withResolvers<AbortSignal>();
    const model = scriptedModel([
      (_, { signal }) => {
        asked.resolve(signal);
        return new Promise(() => undefined);
      },
    ]);
    const running = run(createAgent({ model, clock, limits: { deadline: 1000 } }), 'hello');
    const signal = await asked.promise;
    expect(await clock.armed()).toBe(1000);
    clock.advance(1000);
    const { result, session } = await running;
    expect(result.outcome).toEqual({ type: 'limit', limit: 'deadline' });
    expect(signal.aborted).toBe(true);
    expect(session.actor.getSnapshot().matches({ done: 'limited' })).toBe(true);
    expect(clock.timers).toBe(0);
  });

  test('R22: it stops running tools, with their grace, and asks the model no more', async () => {
    const clock = manualClock();
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held'))]);
    const running = run(
      createAgent({ model, tools: [held.tool], clock, limits: { deadline: 500 }, stopGrace: 100 }),
      'hello',
    );
    await held.whenBegun(1);
    clock.advance(500);
    expect(await clock.armed()).toBe(100);
    expect(held.begun[0]?.signal.aborted).toBe(true);
    clock.advance(100);
    const { result } = await running;
    expect(result.outcome).toEqual({ type: 'limit', limit: 'deadline' });
    expect(results(result.messages)).toEqual(['Error: the call was stopped while it ran; its outcome is unknown.']);
    model.assertFinished();
  });

  test('R22: with onLimit `fail` the turn fails', async () => {
    const clock = manualClock();
    const model = scriptedModel([() => new Promise(() => undefined)]);
    const running = run(createAgent({ model, clock, limits: { deadline: 10, onLimit: 'fail' } }), 'hello');
    await clock.armed();
    clock.advance(10);
    expect((await running).error?.code).toBe('deadline');
  });

  test('R22: time spent waiting for people, and closed, does not count; what was worked before does', async () => {
    const clock = manualClock();
    const held = heldTool('held', { annotations: { readOnly: true } });
    const model = scriptedModel([calls(call('held')), calls(call('gated')), calls(call('held')), 'world']);
    const agent = createAgent({ model, tools: [held.tool, gated], clock, limits: { deadline: 1000 }, stopGrace: 0 });
    const running = run(agent, 'hello');
    await held.whenBegun(1);
    clock.advance(600);
    held.end(0);
    const { session } = await running;
    expect(session.status).toBe('waiting');
    expect(clock.timers).toBe(0);
    clock.advance(1_000_000);
    const restored = agent.restore(session.toJSON());
    clock.advance(1_000_000);
    await restored.approve('call_2_0');
    await held.whenBegun(2);
    expect(await clock.armed()).toBe(400);
    clock.advance(400);
    expect((await resting(restored)).outcome).toEqual({ type: 'limit', limit: 'deadline' });
    expectWhole(restored.messages);
  });

  test('R22: `retry` grants as much time again', async () => {
    const clock = manualClock();
    const model = scriptedModel([() => new Promise(() => undefined), 'world']);
    const running = run(createAgent({ model, clock, limits: { deadline: 10 } }), 'hello');
    await clock.armed();
    clock.advance(10);
    const { session } = await running;
    await session.retry();
    expect((await session.settled()).text).toBe('world');
    expect(clock.timers).toBe(0);
  });
});
