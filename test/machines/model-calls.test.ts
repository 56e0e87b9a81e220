import type { Clock } from '../../src/actors/alarm.ts';
import { describe, expect, test } from 'vitest';
import type { ChatModel, ModelChunk, ModelReply } from '../../src/models/chat-model.ts';
import { ModelError } from '../../src/models/model-error.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { manualClock } from '../support/manual-clock.ts';
import { expectWhole, inBothModes, runStreamed } from '../support/run.ts';
import { F1, call, calls } from '../support/tools.ts';
import { transcript } from '../support/transcript.ts';

const passing = (options: { status?: number; retryAfter?: number } = {}) =>
  new ModelError('model-request-failed', 'the provider is busy', { transient: true, ...options });

const text = (said: string): ModelReply => ({ message: { role: 'assistant', content: said }, finishReason: 'stop' });

/** A model whose stream the test writes by hand. */
const streaming = (
  ...streams: ((signal: AbortSignal) => AsyncIterable<ModelChunk>)[]
): ChatModel & { asked: number } => ({
  name: 'streaming',
  asked: 0,
  generate: () => Promise.reject(new Error('asked whole')),
  stream(_, { signal }) {
    const next = streams[this.asked];
    this.asked += 1;
    if (next === undefined) throw new Error('asked too often');
    return next(signal);
  },
});

inBothModes('model calls', (run) => {
  test('R40/LC81: an error that may pass is tried again with growing waits, on the chart', async () => {
    const clock = manualClock();
    const model = scriptedModel([passing(), passing({ status: 503 }), 'world']);
    const running = run(createAgent({ model, clock }), 'hello');
    expect(await clock.armed()).toBe(500);
    clock.advance(500);
    expect(await clock.armed()).toBe(1000);
    clock.advance(1000);
    const { result, events } = await running;
    expect(result.text).toBe('world');
    if (events.length > 0) {
      expect(events.filter(({ type }) => type === 'error')).toHaveLength(2);
      expect(events.some((event) => event.type === 'transition' && event.to === 'thinking.backing-off')).toBe(true);
    }
    model.assertFinished();
  });

  test('R40: when the tries are used up the turn fails with the text and status of the provider; `retry` asks again', async () => {
    const clock = manualClock();
    const model = scriptedModel([passing({ status: 503 }), passing({ status: 503 }), 'world']);
    const running = run(createAgent({ model, clock, retry: { attempts: 2 } }), 'hello');
    await clock.armed();
    clock.advance(500);
    const { error, session } = await running;
    expect(error).toMatchObject({
      code: 'model-error',
      message: 'the provider is busy',
      cause: { status: 503, code: 'model-request-failed' },
    });
    await session.retry();
    expect((await session.settled()).text).toBe('world');
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('R40: `Retry-After` is honoured', async () => {
    const clock = manualClock();
    const model = scriptedModel([passing({ retryAfter: 7000 }), 'world']);
    const running = run(createAgent({ model, clock }), 'hello');
    expect(await clock.armed()).toBe(7000);
    clock.advance(7000);
    expect((await running).result.text).toBe('world');
  });

  test('R40: a `Retry-After` beyond the cap fails at once and says how long it is', async () => {
    const clock = manualClock();
    const model = scriptedModel([passing({ retryAfter: 3_600_000 })]);
    const { error } = await run(createAgent({ model, clock }), 'hello');
    expect(error?.message).toContain('3600000 ms');
    expect(clock.timers).toBe(0);
  });

  test.each([
    [
      'an error of the provider that does not pass',
      new ModelError('model-request-failed', 'bad key', { transient: false, status: 401 }),
    ],
    ['any other error', new TypeError('adapter bug')],
  ])('R40: %s fails at once', async (_, thrown) => {
    const model = scriptedModel([thrown]);
    const { error, session } = await run(createAgent({ model }), 'hello');
    expect(error?.code).toBe('model-error');
    expect(error?.message).toBe(thrown.message);
    expect(session.actor.getSnapshot().matches({ done: 'failed' })).toBe(true);
    expect(transcript(session.messages)).toEqual(['user: hello']);
    model.assertFinished();
  });

  test('R40: a request that is too long has a code of its own', async () => {
    const model = scriptedModel([
      new ModelError('model-request-failed', 'too long', { transient: false, overflow: true }),
    ]);
    expect((await run(createAgent({ model }), 'hello')).error?.code).toBe('context-overflow');
  });

  test('R40: trying again repeats no tool call', async () => {
    const clock = manualClock();
    let runs = 0;
    const { toolOf } = await import('../support/tools.ts');
    const counted = toolOf('counted', () => (runs += 1));
    const model = scriptedModel([calls(call('counted')), passing(), 'world']);
    const running = run(createAgent({ model, tools: [counted], clock }), 'hello');
    await clock.armed();
    clock.advance(500);
    expect((await running).result.text).toBe('world');
    expect(runs).toBe(1);
    expect(model.requests[1]?.messages).toEqual(model.requests[2]?.messages);
  });

  test('R40: a reply sets the tries back', async () => {
    const clock = manualClock();
    const model = scriptedModel([passing(), calls(call('F1')), passing(), 'world']);
    const running = run(createAgent({ model, tools: [F1], clock, retry: { attempts: 2 } }), 'hello');
    for (let times = 0; times < 2; times += 1) {
      expect(await clock.armed()).toBe(500);
      clock.advance(500);
    }
    expect((await running).result.text).toBe('world');
  });

  test('R40: then the fallbacks, in order, each with its own tries', async () => {
    const clock = manualClock();
    const first = scriptedModel([passing(), passing()], { name: 'first' });
    const second = scriptedModel([passing({ retryAfter: 3_600_000 })], { name: 'second' });
    const third = scriptedModel(['world'], { name: 'third' });
    const running = run(
      createAgent({ model: first, fallback: [second, third], clock, retry: { attempts: 2 } }),
      'hello',
    );
    await clock.armed();
    clock.advance(500);
    const { result } = await running;
    expect(result.text).toBe('world');
    expect(result.modelCalls).toMatchObject([{ model: 'third' }]);
    for (const model of [first, second, third]) model.assertFinished();
  });

  test('R40: an error that does not pass asks no fallback', async () => {
    const other = scriptedModel([], { name: 'other' });
    const model = scriptedModel([new Error('bad key')]);
    expect((await run(createAgent({ model, fallback: [other] }), 'hello')).error?.message).toBe('bad key');
  });

  test('R40: after a turn with a fallback the next turn asks the own model again', async () => {
    const first = scriptedModel([passing(), 'two'], { name: 'first' });
    const second = scriptedModel(['one'], { name: 'second' });
    const agent = createAgent({ model: first, fallback: [second], retry: { attempts: 1 } });
    const { session } = await run(agent, 'hello');
    expect((await run(agent, 'more', { session })).result.text).toBe('two');
    first.assertFinished();
  });

  test('R40: instructions that throw fail the turn with their text: they are named, and not the model', async () => {
    const model = scriptedModel([]);
    const agent = createAgent({
      model,
      instructions: () => {
        throw new Error('no instructions');
      },
    });
    expect((await run(agent, 'hello')).error).toMatchObject({
      code: 'context-provider-error',
      message: 'option "instructions": no instructions',
      cause: { cause: { message: 'no instructions' } },
    });
  });

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['no message', { finishReason: 'stop' }],
    ['another role', { message: { role: 'user', content: 'x' }, finishReason: 'stop' }],
  ])('R41: an adapter that gives %s is an error, not an answer', async (_, reply) => {
    const model: ChatModel = { name: 'odd', generate: async () => reply as unknown as ModelReply };
    const { error, session } = await run(createAgent({ model }), 'hello');
    expect(error?.message).toContain('"odd"');
    expect(transcript(session.messages)).toEqual(['user: hello']);
  });

  test.each([
    ['a refusal', { refusal: 'I can not help with that.' }, 'I can not help with that.'],
    ['a content filter', { text: 'half', finishReason: 'content-filter' as const }, 'half'],
    ['a content filter without text', { finishReason: 'content-filter' as const }, 'content filter'],
  ])('R42: %s is an outcome of its own, and nothing of it is stored as the answer', async (_, reply, reason) => {
    const model = scriptedModel([reply, 'better']);
    const { result, session } = await run(createAgent({ model }), 'hello');
    expect(result.outcome).toEqual({ type: 'refused', reason });
    expect(result.text).toBe('');
    expect(transcript(session.messages)).toEqual(['user: hello']);
    expect(session.actor.getSnapshot().matches({ done: 'refused' })).toBe(true);
    await session.retry();
    expect((await session.settled()).text).toBe('better');
    model.assertFinished();
  });

  test.each([{}, { text: '' }, { text: ' \n' }, { reasoning: 'Hm.' }, { finishReason: 'tool-calls' as const }])(
    'R42/B22, B36: the empty reply %j is asked again once',
    async (empty) => {
      const model = scriptedModel([empty, 'world']);
      const { result } = await run(createAgent({ model }), 'hello');
      expect(result.text).toBe('world');
      expect(transcript(result.messages)).toEqual(['user: hello', 'assistant: world']);
      model.assertFinished();
    },
  );

  test('R42: twice empty fails with `empty-reply`', async () => {
    const model = scriptedModel([{}, {}]);
    expect((await run(createAgent({ model }), 'hello')).error?.code).toBe('empty-reply');
    model.assertFinished();
  });

  test('R24/R42: a model that fails and a fallback that says nothing, by turns, come to an end', async () => {
    let asked = 0;
    const failing: ChatModel = { name: 'failing', generate: () => Promise.reject(passing()) };
    const silent: ChatModel = {
      name: 'silent',
      generate: async () => {
        asked += 1;
        if (asked > 10) throw new Error('asked for ever');
        return text('');
      },
    };
    const agent = createAgent({ model: failing, fallback: [silent], retry: { attempts: 1 } });
    const { result } = await run(agent, 'hello');
    expect(result.outcome).toMatchObject({ type: 'failed', code: 'empty-reply' });
    expect(asked).toBe(2);
  });

  test('R42: each model call of a turn may be empty once', async () => {
    const model = scriptedModel([{}, calls(call('F1')), {}, 'world']);
    const { result } = await run(createAgent({ model, tools: [F1] }), 'hello');
    expect(result.text).toBe('world');
    model.assertFinished();
  });

  test('R43/D22: usage is summed by kind over the turn and the session; what nobody counted is not 0', async () => {
    const model = scriptedModel([
      { ...calls(call('F1')), usage: { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 } },
      calls(call('F1')),
      { text: 'one', usage: { inputTokens: 5, outputTokens: 1 } },
      { text: 'two', usage: { inputTokens: 1 } },
    ]);
    const agent = createAgent({ model, tools: [F1] });
    const { result, session } = await run(agent, 'hello');
    expect(result.usage).toEqual({ inputTokens: 15, outputTokens: 3, cachedInputTokens: 4 });
    expect(result.modelCalls.map(({ usage }) => usage?.inputTokens)).toEqual([10, undefined, 5]);
    const restored = agent.restore(session.toJSON());
    const second = await run(agent, 'more', { session: restored });
    expect(second.result.usage).toEqual({ inputTokens: 1 });
    expect(second.result.modelCalls).toHaveLength(1);
    expect(restored.actor.getSnapshot().context.usage).toEqual({
      inputTokens: 16,
      outputTokens: 3,
      cachedInputTokens: 4,
    });
    expect(restored.actor.getSnapshot().context.modelCalls).toHaveLength(4);
    const total = second.events.findLast((event) => event.type === 'usage');
    if (total !== undefined) expect(total).toMatchObject({ usage: { inputTokens: 1 }, total: { inputTokens: 16 } });
  });

  test('R43: an empty reply that is asked again is paid for and counted', async () => {
    const model = scriptedModel([{ usage: { totalTokens: 3 } }, { text: 'world', usage: { totalTokens: 4 } }]);
    expect((await run(createAgent({ model }), 'hello')).result.usage).toEqual({ totalTokens: 7 });
  });

  test('R44/B31: fields of a provider are kept and echoed; our own never leave the session', async () => {
    const providerOptions = { openai: { reasoning_content: 'need time' } };
    const model = scriptedModel([
      {
        message: {
          role: 'assistant',
          providerOptions,
          content: [
            { type: 'reasoning', text: '', providerOptions: { google: { thoughtSignature: 's' } } },
            { type: 'tool-call', toolCallId: 'c1', toolName: 'F1', input: {}, providerOptions: { google: { x: 1 } } },
          ],
        },
        finishReason: 'tool-calls',
      },
      'world',
    ]);
    const agent = createAgent({ model, tools: [F1] });
    const { session } = await run(agent, 'hello');
    expect(model.requests[1]?.messages[1]).toEqual({
      role: 'assistant',
      providerOptions,
      content: [
        { type: 'reasoning', text: '', providerOptions: { google: { thoughtSignature: 's' } } },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'F1', input: {}, providerOptions: { google: { x: 1 } } },
      ],
    });
    expect(agent.restore(session.toJSON()).messages).toEqual(session.messages);
  });
});

describe('streams', () => {
  test('the text comes in pieces, in order, and is whole in the result', async () => {
    const model = scriptedModel([{ text: 'one two three', reasoning: 'well then' }]);
    const { result, events } = await runStreamed(createAgent({ model }), 'hello');
    const joined = (type: 'text-delta' | 'reasoning-delta'): string =>
      events.map((event) => (event.type === type ? event.text : '')).join('');
    expect(joined('text-delta')).toBe('one two three');
    expect(joined('reasoning-delta')).toBe('well then');
    expect(result.text).toBe('one two three');
    const finish = events.findLast(({ type }) => type === 'finish');
    expect(finish).toMatchObject({ result: { text: 'one two three' } });
  });

  test('nobody reads along: the model is asked for a whole reply', async () => {
    const whole: ChatModel = {
      name: 'both',
      generate: async () => text('whole'),
      stream: () => {
        throw new Error('asked for a stream');
      },
    };
    expect((await createAgent({ model: whole }).run('hello')).text).toBe('whole');
  });

  test('R41/B17, B18: a stream that ends without a finish is tried again; its text is shown and never stored', async () => {
    const clock = manualClock();
    const model = streaming(
      async function* () {
        yield { type: 'text-delta', text: 'The answer is' };
      },
      async function* () {
        yield { type: 'finish', reply: text('world') };
      },
    );
    const running = runStreamed(createAgent({ model, clock }), 'hello');
    await clock.armed();
    clock.advance(500);
    const { events, session } = await running;
    expect(events).toContainEqual({ type: 'text-delta', text: 'The answer is' });
    expect(transcript(session.messages)).toEqual(['user: hello', 'assistant: world']);
    expect(model.asked).toBe(2);
  });

  test('R41: what a model streams that is no chunk or no text is shown to nobody', async () => {
    const model = streaming(async function* () {
      for (const junk of [null, 'hello', { type: 'text-delta' }, { type: 'text-delta', text: 5 }]) yield junk as never;
      yield { type: 'finish', reply: text('world') };
    });
    const { result, events } = await runStreamed(createAgent({ model }), 'hello');
    expect(result.text).toBe('world');
    expect(events.filter(({ type }) => type === 'text-delta')).toEqual([]);
  });

  test('R41: a model that gives no stream is named', async () => {
    const model = streaming(() => [{ type: 'finish', reply: text('world') }] as never);
    const { error } = await runStreamed(createAgent({ model }), 'hello');
    expect(error?.message).toBe('the model "streaming" gave no stream: stream() must give an AsyncIterable of chunks');
  });

  test('R41/B24: an error inside a stream is an error', async () => {
    const model = streaming(async function* () {
      yield { type: 'text-delta', text: 'par' };
      throw new ModelError('model-request-failed', 'quota exceeded', { transient: false });
    });
    const { error, session } = await runStreamed(createAgent({ model }), 'hello');
    expect(error?.message).toBe('quota exceeded');
    expect(transcript(session.messages)).toEqual(['user: hello']);
  });

  test('R41: a stream that stalls is an error that may pass; chunks set the time back', async () => {
    const clock = manualClock();
    const chunk = Promise.withResolvers<void>();
    const silent = Promise.withResolvers<AbortSignal>();
    const model = streaming(
      async function* (signal) {
        await chunk.promise;
        yield { type: 'text-delta', text: 'par' };
        silent.resolve(signal);
        await new Promise(() => undefined);
      },
      async function* () {
        yield { type: 'finish', reply: text('world') };
      },
    );
    const running = runStreamed(createAgent({ model, clock, idleTimeout: 100 }), 'hello');
    expect(await clock.armed()).toBe(100);
    clock.advance(90);
    chunk.resolve();
    const signal = await silent.promise;
    clock.advance(99);
    expect(signal.aborted).toBe(false);
    clock.advance(1);
    expect(signal.aborted).toBe(true);
    expect(await clock.armed()).toBe(500);
    clock.advance(500);
    const { result } = await running;
    expect(result.text).toBe('world');
    expect(clock.timers).toBe(0);
  });

  test('R41: chunks that come all at once set the time back as well, and the silence after them is heard in time', async () => {
    const clock = manualClock();
    const silent = Promise.withResolvers<AbortSignal>();
    const chunk = Promise.withResolvers<void>();
    const model = streaming(async function* (signal) {
      for (const count of [50, 50]) {
        await chunk.promise;
        for (let left = count; left > 0; left -= 1) {
          if (left === 10) clock.advance(120);
          yield { type: 'text-delta', text: 'par' };
        }
        await new Promise((resolve) => setImmediate(resolve));
        clock.advance(60);
      }
      silent.resolve(signal);
      await new Promise(() => undefined);
    });
    const running = runStreamed(createAgent({ model, clock, idleTimeout: 100, retry: { attempts: 1 } }), 'hello');
    expect(await clock.armed()).toBe(100);
    clock.advance(90);
    chunk.resolve();
    const signal = await silent.promise;
    clock.advance(39);
    expect(signal.aborted).toBe(false);
    clock.advance(1);
    expect(signal.aborted).toBe(true);
    expect((await running).error?.message).toContain('was silent for 100 ms');
    expect(clock.timers).toBe(0);
  });

  test('R41: a stream that never ends is given up after 120 s by default, and no timer outlives a stop', async () => {
    const timers = new Set<object>();
    const clock: Clock = {
      now: () => Date.now(),
      setTimeout: (_, ms) => {
        const handle = { ms };
        timers.add(handle);
        return handle;
      },
      clearTimeout: (handle) => {
        timers.delete(handle as object);
      },
    };
    const silent = Promise.withResolvers<void>();
    const model = streaming(async function* () {
      yield { type: 'text-delta', text: 'par' };
      silent.resolve();
      await new Promise(() => undefined);
    });
    const session = await createAgent({ model, clock }).open();
    session.events();
    await session.send('hello');
    await silent.promise;
    expect([...timers]).toEqual([{ ms: 120_000 }]);
    await session.stop();
    expect([...timers]).toEqual([]);
  });

  test('R41: chunks of a kind that we do not know are no error', async () => {
    const model = streaming(async function* () {
      yield { type: 'from-the-future' } as unknown as ModelChunk;
      yield { type: 'finish', reply: text('world') };
    });
    expect((await runStreamed(createAgent({ model }), 'hello')).result.text).toBe('world');
  });

  test('R35: a stream that goes on after a stop is not read any further', async () => {
    const began = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const model = streaming(async function* () {
      yield { type: 'text-delta', text: 'one' };
      began.resolve();
      await goOn.promise;
      yield { type: 'text-delta', text: 'two' };
    });
    const agent = createAgent({ model });
    const session = await agent.open();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of session.events()) {
        if (event.type === 'text-delta') seen.push(event.text);
        if (event.type === 'finish') break;
      }
    })();
    void session.send('hello');
    await began.promise;
    await session.stop();
    goOn.resolve();
    await reading;
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual(['one']);
  });

  test('the events of a turn come in order: step, calls, results, step, finish', async () => {
    const model = scriptedModel([{ ...calls(call('F1')), usage: { totalTokens: 1 } }, 'world']);
    const { events } = await runStreamed(createAgent({ model, tools: [F1] }), 'hello');
    const told = events.map(({ type }) => type).filter((type) => !type.endsWith('-delta') && type !== 'transition');
    expect(told).toEqual([
      'message-fate',
      'step-start',
      'step-finish',
      'usage',
      'tool-call',
      'tool-result',
      'step-start',
      'step-finish',
      'finish',
    ]);
    const states = events.flatMap((event) => (event.type === 'transition' ? [event.to] : []));
    expect(states).toContain('acting');
    expect(states.at(-1)).toBe('done.answered');
  });

  test('two readers of one session see the same events', async () => {
    const session = await createAgent({ model: scriptedModel(['one two']) }).open();
    const read = async (): Promise<string[]> => {
      const seen: string[] = [];
      for await (const event of session.events()) {
        seen.push(event.type);
        if (event.type === 'finish') break;
      }
      return seen;
    };
    const both = Promise.all([read(), read()]);
    void session.send('hello');
    const [first, second] = await both;
    expect(first).toEqual(second);
    expect(first).toContain('text-delta');
  });
});
