import { expect, test } from 'vitest';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { ToolContext } from '../../src/tools/tool.ts';
import { manualClock } from '../support/manual-clock.ts';
import { expectWhole, inBothModes } from '../support/run.ts';
import { F1, broken, call, calls, heldTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

inBothModes('calls', (run) => {
  test('R7/L10: two calls that wait for each other complete', async () => {
    const both = Promise.withResolvers<void>();
    let inFlight = 0;
    const meet = toolOf('meet', async ({ arg }) => {
      inFlight += 1;
      if (inFlight === 2) both.resolve();
      await both.promise;
      return `${String(arg)}${String(arg)}`;
    });
    const model = scriptedModel([calls(call('meet', { arg: 'hello' }), call('meet', { arg: 'world' })), 'done']);
    const { result } = await run(createAgent({ model, tools: [meet] }), 'hello');
    expect(results(result.messages)).toEqual(['hellohello', 'worldworld']);
  });

  test('R7: 200 calls with concurrency 8: never more than 8 at once, all in call order', async () => {
    let running = 0;
    let most = 0;
    const count = toolOf('count', async ({ n }) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return `n ${String(n)}`;
    });
    const model = scriptedModel([calls(...Array.from({ length: 200 }, (_, n) => call('count', { n }))), 'done']);
    const { result, session } = await run(createAgent({ model, tools: [count], concurrency: 8 }), 'hello');
    expect(most).toBe(8);
    expect(results(result.messages)).toEqual(Array.from({ length: 200 }, (_, n) => `n ${n}`));
    expect(Object.keys(session.actor.getSnapshot().children)).toEqual(['wake']);
    model.assertFinished();
  });

  test('R7: the default is 8 at a time', async () => {
    const held = heldTool('held');
    const model = scriptedModel([calls(...Array.from({ length: 10 }, (_, n) => call('held', { n }))), 'done']);
    const running = run(createAgent({ model, tools: [held.tool] }), 'hello');
    await held.whenBegun(8);
    await new Promise((resolve) => setImmediate(resolve));
    expect(held.begun).toHaveLength(8);
    for (let index = 0; index < 8; index += 1) held.end(index);
    await held.whenBegun(10);
    held.end(8);
    held.end(9);
    expect((await running).result.text).toBe('done');
  });

  test('R7/L11: with concurrency 1 the calls run strictly one after another, in call order', async () => {
    const log: string[] = [];
    const step = toolOf('step', async ({ n }) => {
      log.push(`begin ${String(n)}`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`end ${String(n)}`);
    });
    const model = scriptedModel([
      calls(call('step', { n: 0 }), call('step', { n: 1 }), call('step', { n: 2 })),
      'done',
    ]);
    await run(createAgent({ model, tools: [step], concurrency: 1 }), 'hello');
    expect(log).toEqual([0, 1, 2].flatMap((n) => [`begin ${n}`, `end ${n}`]));
  });

  test('R7: a sequential tool is a barrier: it waits for all before it, and later ones wait for it', async () => {
    const log: string[] = [];
    const step = (name: string, sequential: boolean) =>
      toolOf(
        name,
        async ({ n }) => {
          log.push(`begin ${String(n)}`);
          await new Promise((resolve) => setImmediate(resolve));
          log.push(`end ${String(n)}`);
        },
        { sequential },
      );
    const model = scriptedModel([
      calls(
        call('free', { n: 0 }),
        call('free', { n: 1 }),
        call('alone', { n: 2 }),
        call('free', { n: 3 }),
        call('free', { n: 4 }),
      ),
      'done',
    ]);
    await run(createAgent({ model, tools: [step('free', false), step('alone', true)] }), 'hello');
    const at = (text: string): number => log.indexOf(text);
    expect(Math.max(at('end 0'), at('end 1'))).toBeLessThan(at('begin 2'));
    expect(at('end 2')).toBeLessThan(Math.min(at('begin 3'), at('begin 4')));
    expect(Math.max(at('begin 0'), at('begin 1'))).toBeLessThan(Math.min(at('end 0'), at('end 1')));
    expect(Math.max(at('begin 3'), at('begin 4'))).toBeLessThan(Math.min(at('end 3'), at('end 4')));
  });

  test('R7/D12: a failing call does not disturb its siblings', async () => {
    const model = scriptedModel([calls(call('F1'), call('broken'), call('F1', { n: 1 }), call('nope')), 'done']);
    const { result } = await run(createAgent({ model, tools: [F1, broken] }), 'hello');
    expect(results(result.messages)).toEqual([
      'Result 1',
      'Error: the tool failed.',
      'Result 1',
      expect.stringContaining('there is no tool named'),
    ]);
  });

  test('R7: a failing barrier lets the later ones start', async () => {
    const bad = toolOf('bad', () => new Error('Oh no!'), { sequential: true });
    const model = scriptedModel([calls(call('bad'), call('F1')), 'done']);
    const { result } = await run(createAgent({ model, tools: [F1, bad] }), 'hello');
    expect(results(result.messages)).toEqual(['Error: the tool failed.', 'Result 1']);
  });

  test('a tool is told where its call stands', async () => {
    const seen: ToolContext[] = [];
    const read: string[][] = [];
    const look = toolOf('look', (_, ctx) => {
      seen.push(ctx);
      read.push(transcript(ctx.messages));
    });
    const model = scriptedModel([calls(call('F1')), calls(call('F1'), call('look')), 'done']);
    const { session } = await run(createAgent({ model, tools: [F1, look] }), 'hello', { context: 'mine' });
    expect(seen).toMatchObject([
      {
        callId: 'call_2_1',
        sessionId: session.id,
        idempotencyKey: `${session.id}:call_2_1`,
        attempt: 1,
        iteration: 2,
        callIndex: 1,
        callCount: 2,
        context: 'mine',
      },
    ]);
    expect(read).toEqual([['user: hello', 'assistant: F1{}', 'tool: Result 1']]);
  });

  test('R37/LC107: a tool that takes too long settles as timed out; its signal aborts; a late result is dropped', async () => {
    const clock = manualClock();
    const held = heldTool('held', { timeout: 250 });
    const model = scriptedModel([calls(call('held'), call('F1')), 'done']);
    const running = run(createAgent({ model, tools: [held.tool, F1], clock }), 'hello');
    expect(await clock.armed()).toBe(250);
    clock.advance(250);
    const { result, session } = await running;
    expect(held.begun[0]?.signal.aborted).toBe(true);
    held.end(0, 'too late');
    expect(results(result.messages)).toEqual(['Error: the tool timed out after 250 ms.', 'Result 1']);
    expect(results(session.messages)).toHaveLength(2);
    expect(clock.timers).toBe(0);
  });

  test('R19, R37: a timeout is an error of its round', async () => {
    const clock = manualClock();
    const held = heldTool('held', { timeout: 250 });
    const model = scriptedModel([calls(call('held'))]);
    const running = run(
      createAgent({ model, tools: [held.tool], clock, limits: { maxConsecutiveErrors: 0 } }),
      'hello',
    );
    await clock.armed();
    clock.advance(250);
    expect((await running).error?.code).toBe('error-limit');
  });

  test('R37: a tool in time leaves no timer behind', async () => {
    const clock = manualClock();
    const model = scriptedModel([calls(call('quick')), 'done']);
    await run(createAgent({ model, tools: [toolOf('quick', () => 'ok', { timeout: 250 })], clock }), 'hello');
    expect(clock.timers).toBe(0);
  });

  test('R37: a tool is tried again with growing waits and the same idempotency key', async () => {
    const clock = manualClock();
    const seen: [number, string][] = [];
    const flaky = toolOf(
      'flaky',
      (_, { attempt, idempotencyKey }) => {
        seen.push([attempt, idempotencyKey]);
        if (attempt < 4) throw new Error('Oh no!');
        return 'ok';
      },
      { retry: { attempts: 4, initialDelay: 100, maxDelay: 300 } },
    );
    const model = scriptedModel([calls(call('flaky')), 'done']);
    const running = run(createAgent({ model, tools: [flaky], clock }), 'hello');
    for (const wait of [100, 200, 300]) {
      expect(await clock.armed()).toBe(wait);
      clock.advance(wait);
    }
    const { result } = await running;
    expect(results(result.messages)).toEqual(['ok']);
    expect(seen.map(([attempt]) => attempt)).toEqual([1, 2, 3, 4]);
    expect(new Set(seen.map(([, key]) => key)).size).toBe(1);
  });

  test('R37/LC108: tries are used up, or the error is not worth one', async () => {
    const clock = manualClock();
    let tries = 0;
    const flaky = toolOf(
      'flaky',
      ({ final }) => {
        tries += 1;
        throw new Error(final === true ? 'final' : 'passing');
      },
      { retry: { attempts: 2, when: (error) => error instanceof Error && error.message === 'passing' } },
    );
    const model = scriptedModel([calls(call('flaky')), calls(call('flaky', { final: true })), 'done']);
    const running = run(createAgent({ model, tools: [flaky], clock }), 'hello');
    expect(await clock.armed()).toBe(500);
    clock.advance(500);
    const { result } = await running;
    expect(tries).toBe(3);
    expect(results(result.messages)).toEqual(['Error: the tool failed.', 'Error: the tool failed.']);
  });

  test('R37: a question whether to try again that throws means no', async () => {
    const flaky = toolOf('flaky', () => new Error('Oh no!'), {
      retry: {
        when: () => {
          throw new Error('no');
        },
      },
    });
    const model = scriptedModel([calls(call('flaky')), 'done']);
    const { result } = await run(createAgent({ model, tools: [flaky] }), 'hello');
    expect(result.text).toBe('done');
  });

  test('R37: each try has its own timeout', async () => {
    const clock = manualClock();
    const held = heldTool('held', { timeout: 50, retry: { attempts: 2, initialDelay: 10 } });
    const model = scriptedModel([calls(call('held')), 'done']);
    const running = run(createAgent({ model, tools: [held.tool], clock }), 'hello');
    for (const wait of [50, 10, 50]) {
      expect(await clock.armed()).toBe(wait);
      clock.advance(wait);
    }
    const { result } = await running;
    expect(held.begun).toHaveLength(2);
    expect(results(result.messages)).toEqual(['Error: the tool timed out after 50 ms.']);
  });

  test('R37: a session that was saved while a tool backed off waits for what is left', async () => {
    const clock = manualClock();
    const seen: number[] = [];
    const flaky = toolOf(
      'flaky',
      (_, { attempt }) => {
        seen.push(attempt);
        return attempt === 1 ? new Error('Oh no!') : 'ok';
      },
      { retry: { attempts: 2, initialDelay: 1000 } },
    );
    const agent = createAgent({ model: scriptedModel([calls(call('flaky')), 'done']), tools: [flaky], clock });
    const session = await agent.open();
    void session.send('hello').catch(() => undefined);
    await clock.armed();
    clock.advance(400);
    const document = session.toJSON();
    await session[Symbol.asyncDispose]();
    const restored = agent.restore(document);
    expect(await clock.armed()).toBe(600);
    clock.advance(600);
    expect(results((await restored.settled()).messages)).toEqual(['ok']);
    expect(seen).toEqual([1, 2]);
    expectWhole(restored.messages);
  });
});
