import { describe, expect, test } from 'vitest';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { manualClock } from '../support/manual-clock.ts';
import { runFile } from '../support/process.ts';
import { atOnce, provider } from '../support/provider.ts';
import { expectWhole, inBothModes, resting } from '../support/run.ts';
import { reopened, saved } from '../support/sessions.ts';
import { F1, call, calls, heldTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const failed = 'Error: the tool failed.';
const everAgain = (answer: Parameters<typeof scriptedModel>[0][number], times = 60) =>
  Array.from({ length: times }, () => answer);
const statusesOf = (messages: Parameters<typeof results>[0]): unknown[] =>
  messages.flatMap((message) =>
    message.role === 'tool'
      ? message.content.map((part) => part.providerOptions?.['agentchart']?.['status'] ?? 'ok')
      : [],
  );

inBothModes('what the loop makes of its calls', (run) => {
  test('B80: a call that throws loses nothing of its siblings, and nothing runs twice', async () => {
    const pay = heldTool('pay');
    const last = heldTool('last');
    const throws = toolOf('throws', () => {
      throw new Error('boom');
    });
    const model = scriptedModel([calls(call('pay'), call('throws'), call('last')), 'done']);
    const agent = createAgent({ model, tools: [pay.tool, throws, last.tool], detailedErrors: true });
    const running = run(agent, 'go');
    await Promise.all([pay.whenBegun(1), last.whenBegun(1)]);
    last.end(0, 'ok');
    pay.end(0, 'tx1');
    const { result } = await running;
    expect(results(result.messages)).toEqual(['tx1', `${failed} boom`, 'ok']);
    expect(pay.begun).toHaveLength(1);
    expect(result.text).toBe('done');
  });

  test('B81: a watcher that breaks takes no result away', async () => {
    let seen = 0;
    const inspect = (): void => {
      seen += 1;
      if (seen > 3) throw new Error('the watcher broke');
    };
    const round = Array.from({ length: 13 }, (_, n) => call('F1', { n }));
    const { result } = await run(createAgent({ model: scriptedModel([calls(...round), 'done']), tools: [F1] }), 'go', {
      inspect,
    });
    expect(results(result.messages)).toEqual(Array.from({ length: 13 }, () => 'Result 1'));
    expect(seen).toBeGreaterThan(3);
    expect(result.text).toBe('done');
  });

  test('B83: calls that wait for a slot do not begin after an abort, and say so', async () => {
    const held = heldTool('held');
    const aborting = new AbortController();
    const round = Array.from({ length: 5 }, (_, n) => call('held', { n }));
    const agent = createAgent({
      model: scriptedModel([calls(...round)]),
      tools: [held.tool],
      concurrency: 2,
      stopGrace: 0,
    });
    const running = run(agent, 'go', { signal: aborting.signal });
    await held.whenBegun(2);
    aborting.abort();
    const { result } = await running;
    expect(result.outcome).toMatchObject({ type: 'stopped' });
    expect(held.begun).toHaveLength(2);
    const texts = results(result.messages);
    for (const text of texts.slice(0, 2)) expect(text).toMatch(/outcome is unknown/);
    for (const text of texts.slice(2)) expect(text).toMatch(/before it started/);
    expect(texts).toHaveLength(5);
  });

  test('B84: a tool that gives up because the run was aborted: the run ends as stopped', async () => {
    const aborting = new AbortController();
    const fetching = toolOf('fetching', (_, { signal }) => {
      aborting.abort();
      signal.throwIfAborted();
    });
    const model = scriptedModel([calls(call('fetching')), 'never']);
    const { result } = await run(createAgent({ model, tools: [fetching] }), 'go', { signal: aborting.signal });
    expect(result.outcome).toMatchObject({ type: 'stopped' });
    expect(model.requests).toHaveLength(1);
  });

  test('B84: a tool with an abort of its own has failed, and the run goes on', async () => {
    const fetching = toolOf('fetching', () => {
      throw new DOMException('the inner time is over', 'AbortError');
    });
    const model = scriptedModel([calls(call('fetching')), 'done']);
    const { result } = await run(createAgent({ model, tools: [fetching], detailedErrors: true }), 'go');
    expect(results(result.messages)).toEqual([`${failed} the inner time is over`]);
    expect(result.text).toBe('done');
  });

  test('B88: at the limit right after tools: a named end, a last text, and calls in it are answered and not run', async () => {
    let runs = 0;
    const tools = [toolOf('f', () => (runs += 1))];
    const model = scriptedModel(everAgain({ ...calls(call('f')), text: 'so far' }, 3));
    const { result } = await run(createAgent({ model, tools, limits: { maxIterations: 2 } }), 'go');
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
    expect(result.text).toBe('so far');
    expect(runs).toBe(2);
    expect(statusesOf(result.messages)).toEqual(['ok', 'ok', 'stopped']);
    expect(model.requests[2]?.tools).toBeUndefined();
    model.assertFinished();
  });

  test('B88: with `pause` nothing is asked after the limit, and the session is whole', async () => {
    const model = scriptedModel(everAgain(calls(call('F1')), 2));
    const agent = createAgent({ model, tools: [F1], limits: { maxIterations: 2, onLimit: 'pause' } });
    const { result } = await run(agent, 'go');
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
    expect(result.text).toBe('');
    model.assertFinished();
  });

  test('B90: different tools that fail in turn are counted together', async () => {
    const tools = ['a', 'b'].map((name) =>
      toolOf(name, () => {
        throw new Error(name);
      }),
    );
    const model = scriptedModel([calls(call('a')), calls(call('b')), calls(call('a')), calls(call('b')), 'never']);
    const { error } = await run(createAgent({ model, tools }), 'go');
    expect(error?.code).toBe('error-limit');
    expect(model.requests).toHaveLength(4);
  });

  test('B90: three failures in one round are one failing round', async () => {
    const bad = toolOf('bad', () => {
      throw new Error('no');
    });
    const model = scriptedModel([
      calls(call('bad'), call('bad', { n: 1 }), call('bad', { n: 2 })),
      calls(call('F1')),
      'done',
    ]);
    const agent = createAgent({ model, tools: [bad, F1], limits: { maxConsecutiveErrors: 1 } });
    expect((await run(agent, 'go')).result.text).toBe('done');
  });

  test('B90: a tool that fails every other time is never too much', async () => {
    let runs = 0;
    const flaky = toolOf('flaky', () => {
      runs += 1;
      if (runs % 2 === 1) throw new Error('no');
      return 'ok';
    });
    const model = scriptedModel([...everAgain(calls(call('flaky')), 10), 'done']);
    const agent = createAgent({ model, tools: [flaky], limits: { maxConsecutiveErrors: 1 } });
    const { result } = await run(agent, 'go');
    expect(result.text).toBe('done');
    expect(runs).toBe(10);
  });

  test('B91: polling with changing answers is no loop; the same in the same words is one; the order of keys is nothing', async () => {
    let n = 0;
    const status = toolOf('status', () => `${(n += 1)} of 5`);
    const edit = toolOf('edit', () => 'saved');
    const stop = { threshold: 3, stop: true };
    const polling = scriptedModel([...everAgain(calls(call('status')), 5), 'finished']);
    const polled = await run(createAgent({ model: polling, tools: [status], loopDetection: stop }), 'go');
    expect(polled.result.text).toBe('finished');

    const turning = [calls(call('edit', { a: 1, b: 2 })), calls(call('edit', { b: 2, a: 1 }))];
    const editing = scriptedModel([...turning, ...turning, 'never']);
    const looped = await run(createAgent({ model: editing, tools: [edit], loopDetection: stop }), 'go');
    expect(looped.result.outcome).toEqual({ type: 'limit', limit: 'loopDetection' });
    expect(editing.requests).toHaveLength(3);
  });

  test('B91: two calls that change places each round are the same round', async () => {
    const pair = [call('F1', { n: 1 }), call('F1', { n: 2 })];
    const swapped = pair.toReversed();
    const model = scriptedModel([calls(...pair), calls(...swapped), calls(...pair), 'never']);
    const agent = createAgent({ model, tools: [F1], loopDetection: { stop: true } });
    expect((await run(agent, 'go')).result.outcome).toEqual({ type: 'limit', limit: 'loopDetection' });
  });

  test('B93: when the model fails after a tool ran, only the model is asked again', async () => {
    let charged = 0;
    const charge = toolOf('charge_card', () => (charged += 1));
    const broken = { status: 500, json: { error: { message: 'down' } } };
    await using from = await provider([{ calls: [{ id: 'c1', name: 'charge_card' }] }, broken, broken, 'done']);
    const { result } = await run(createAgent({ model: from.model, tools: [charge], retry: atOnce }), 'go');
    expect(result.text).toBe('done');
    expect(charged).toBe(1);
    expect(from.server.requests).toHaveLength(4);
  });

  test('B93: the same where another process goes on', async () => {
    let charged = 0;
    const charge = toolOf('charge_card', () => (charged += 1));
    const broken = { status: 500, json: { error: { message: 'down' } } };
    await using from = await provider([{ calls: [{ id: 'c1', name: 'charge_card' }] }, broken, 'done']);
    const clock = manualClock();
    const agent = createAgent({ model: from.model, tools: [charge], clock });
    const session = await agent.open();
    void session.send('go').catch(() => undefined);
    await clock.armed();
    const document = saved(session);
    await session[Symbol.asyncDispose]();
    const later = createAgent({ model: from.model, tools: [charge] }).restore(document);
    expect((await resting(later)).text).toBe('done');
    expect(charged).toBe(1);
    expectWhole(later.messages);
  });

  test('B97: a request that is too long has a name of its own, is not asked again, and the session goes on', async () => {
    const refusals = [
      { status: 400, json: { error: { message: 'too long', code: 'context_length_exceeded' } } },
      { status: 400, json: { error: { message: "This model's maximum context length is 10 tokens" } } },
      { status: 413, json: { error: { message: 'payload' } } },
    ];
    await using from = await provider([...refusals, 'done']);
    const agent = createAgent({ model: from.model, retry: atOnce });
    const session = await agent.open();
    for (const [index] of refusals.entries()) {
      const { error } = await run(agent, `try ${index}`, { session });
      expect(error?.code).toBe('context-overflow');
      expect(from.server.requests).toHaveLength(index + 1);
    }
    expect((await run(agent, 'last', { session })).result.text).toBe('done');
  });

  test.each([400, 401, 403, 404, 422])('B98: status %i is asked once', async (status) => {
    await using from = await provider([{ status, json: { error: { message: 'no' } } }, 'never']);
    const { error } = await run(createAgent({ model: from.model, retry: atOnce }), 'go');
    expect(error?.code).toBe('model-error');
    expect(error?.cause).toMatchObject({ status, message: expect.stringMatching(/: no$/) });
    expect(from.server.requests).toHaveLength(1);
  });

  test.each([408, 409, 429, 500, 503])('B98: status %i is asked as often as the rule says', async (status) => {
    const refusal = { status, json: { error: { message: 'later' } } };
    await using from = await provider([refusal, refusal, refusal, 'never']);
    const { error } = await run(createAgent({ model: from.model, retry: { ...atOnce, attempts: 3 } }), 'go');
    expect(error?.cause).toMatchObject({ status, message: expect.stringMatching(/: later$/) });
    expect(from.server.requests).toHaveLength(3);
  });

  test('B100: calls run side by side, and their results stand as they were asked', async () => {
    const held = heldTool('held');
    const model = scriptedModel([
      calls(call('held', { n: 0 }), call('held', { n: 1 }), call('held', { n: 2 })),
      'done',
    ]);
    const running = run(createAgent({ model, tools: [held.tool] }), 'go');
    await held.whenBegun(3);
    for (const n of [1, 2, 0]) held.end(n, `result ${n}`);
    expect(results((await running).result.messages)).toEqual(['result 0', 'result 1', 'result 2']);
  });

  test('B100: one at a time where that was asked', async () => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held', { n: 0 }), call('held', { n: 1 })), 'done']);
    const running = run(createAgent({ model, tools: [held.tool], concurrency: 1 }), 'go');
    await held.whenBegun(1);
    expect(held.begun).toHaveLength(1);
    held.end(0, 'first');
    await held.whenBegun(2);
    held.end(1, 'second');
    expect(results((await running).result.messages)).toEqual(['first', 'second']);
  });
});

test('B81: a result that was there before a stop is kept beside the one that never came, over a reload', async () => {
  const held = heldTool('never');
  const agent = createAgent({
    model: scriptedModel([calls(call('F1'), call('never'))]),
    tools: [F1, held.tool],
    stopGrace: 0,
  });
  const session = await agent.open();
  void session.send('go');
  await held.whenBegun(1);
  await session.stop();
  const later = reopened(agent, session);
  expect(results(later.messages)).toEqual(['Result 1', expect.stringMatching(/outcome is unknown/)]);
  expectWhole(later.messages);
});

describe('B91: a loop over a save and a load', () => {
  test('a call that was approved after a restore counts once', async () => {
    const gate = toolOf('gate', () => 'same', { needsApproval: true });
    const model = scriptedModel([...everAgain(calls(call('gate')), 3), 'never']);
    const agent = createAgent({ model, tools: [gate], loopDetection: { threshold: 3, stop: true } });
    let session = await agent.open();
    void session.send('go');
    for (const round of [1, 2, 3]) {
      await session.settled();
      session = reopened(agent, session);
      await session.approve(`call_${round}_0`);
    }
    const result = await resting(session);
    expect(result.outcome).toEqual({ type: 'limit', limit: 'loopDetection' });
    expect(result.iterations).toBe(3);
    expectWhole(session.messages);
  });

  test('switched off by default: the turn goes on to its cap', async () => {
    const model = scriptedModel([...everAgain(calls(call('F1')), 6), 'done']);
    expect((await createAgent({ model, tools: [F1] }).run('go')).text).toBe('done');
  });
});

describe('B95: how long a provider asks to wait', () => {
  const waits = async (headers: Record<string, string>) => {
    const refusal = { status: 429, headers, json: { error: { message: 'slow down' } } };
    const from = await provider([refusal, 'done']);
    const clock = manualClock();
    const agent = createAgent({ model: from.model, clock, retry: { initialDelay: 500 } });
    return { from, clock, running: agent.run('go') };
  };

  test.each([
    ['a number of seconds', { 'retry-after': '7' }, 7000],
    ['milliseconds', { 'retry-after-ms': '1500' }, 1500],
    ['less than nothing', { 'retry-after': '-5' }, 500],
    ['a word', { 'retry-after': 'soon' }, 500],
    ['a day long ago', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 500],
  ])('%s', async (_, headers, expected) => {
    const { from, clock, running } = await waits(headers);
    await using _server = from;
    expect(await clock.armed()).toBe(expected);
    expect(from.server.requests).toHaveLength(1);
    clock.advance(expected);
    expect((await running).text).toBe('done');
  });

  test('nothing at all: at once, and still no more often than the rule says', async () => {
    const refusal = { status: 429, headers: { 'retry-after': '0' }, json: { error: { message: 'slow down' } } };
    await using from = await provider([refusal, refusal, refusal, 'never']);
    const failure = await createAgent({ model: from.model })
      .run('go')
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'model-error' });
    expect(from.server.requests).toHaveLength(3);
  });

  test.each(['3600', '3000000'])('longer than the cap (%s s): it fails at once and says how long', async (seconds) => {
    const { from, running } = await waits({ 'retry-after': seconds });
    await using _server = from;
    await expect(running).rejects.toThrow(`${seconds}000 ms`);
    expect(from.server.requests).toHaveLength(1);
  });

  test('the cap can be set, and a server that says not to come back is believed', async () => {
    const refusal = { status: 429, headers: { 'retry-after': '2' }, json: { error: { message: 'slow down' } } };
    const final = { status: 500, headers: { 'x-should-retry': 'false' }, json: { error: { message: 'gone' } } };
    await using from = await provider([refusal, final, 'never']);
    const agent = createAgent({ model: from.model, retry: { maxRetryAfter: 1000 } });
    await expect(agent.run('go')).rejects.toThrow('2000 ms');
    await expect(agent.run('go')).rejects.toThrow('gone');
    expect(from.server.requests).toHaveLength(2);
  });
});

describe('processes', () => {
  test.each(['break', 'throw', 'abort', 'abort-during-tool'])(
    'B85: a stream that is left by %s cancels its request or its tool, and the process ends well',
    async (way) => {
      const printed = await runFile(new URL('processes/leaves-the-stream.ts', import.meta.url), [way]);
      expect(printed).toEqual({ way, wasCut: true });
    },
  );

  test('B85: a stream that fails and that nobody reads does not end the process', async () => {
    expect(await runFile(new URL('processes/fails-unread.ts', import.meta.url))).toEqual({ status: 'settled' });
  });

  test('B87: tools that do not keep to their time are told and left behind; what comes late is dropped; the process can end', async () => {
    const printed = await runFile(new URL('processes/tool-never-ends.ts', import.meta.url));
    const late = 'Error: the tool timed out after 100 ms.';
    expect(printed).toMatchObject({
      text: 'done',
      aborted: ['never', 'late'],
      isSame: true,
      results: [late, 'busy is done', late],
    });
    // Of the one that may take a minute nothing was waited for.
    expect(printed['took']).toBeLessThan(30_000);
  });
});

test('B87: a tool that never resolves settles when its time is over, not before', async () => {
  const clock = manualClock();
  const held = heldTool('never', { timeout: 100 });
  const agent = createAgent({ model: scriptedModel([calls(call('never')), 'done']), tools: [held.tool], clock });
  const session = await agent.open();
  void session.send('go');
  await held.whenBegun(1);
  clock.advance(99);
  expect(session.status).toBe('busy');
  clock.advance(1);
  const result = await session.settled();
  expect(held.begun[0]?.signal.aborted).toBe(true);
  held.end(0, 'late');
  expect(transcript(result.messages)).toEqual([
    'user: go',
    'assistant: never{}',
    'tool: Error: the tool timed out after 100 ms.',
    'assistant: done',
  ]);
  expect(clock.timers).toBe(0);
  expectWhole(session.messages);
});
