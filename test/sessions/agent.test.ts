import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { waitFor } from 'xstate';
import { AgentError } from '../../src/errors.ts';
import type { RunTurn } from '../../src/sessions/agent-middleware.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { TurnError } from '../../src/sessions/turn-error.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { deepFreeze } from '../messages/arbitrary-history.ts';
import { collect } from '../support/collect.ts';
import { modelOfTurns } from '../support/models.ts';
import { expectWhole, inBothModes, runStreamed } from '../support/run.ts';
import { F1, call, calls, heldTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const gated = toolOf('gated', () => 'gated ran', { needsApproval: true });

inBothModes('run', (run) => {
  test('M01: without a session each run has one of its own; with one it goes on', async () => {
    const model = scriptedModel(['one', 'two', 'three']);
    const agent = createAgent({ model });
    const first = await run(agent, 'hello');
    const second = await run(agent, 'hello');
    expect(first.result.sessionId).not.toBe(second.result.sessionId);
    const third = await run(agent, 'more', { session: first.result.sessionId });
    expect(third.session).toBe(first.session);
    expect(transcript(third.result.messages)).toEqual(['user: more', 'assistant: three']);
    expect(transcript(model.requests[2]?.messages ?? [])).toEqual(['user: hello', 'assistant: one', 'user: more']);
  });

  test('a session is given by id, as a live one, or as a document', async () => {
    const agent = createAgent({ model: scriptedModel(['one', 'two', 'three', 'four']) });
    const { session } = await run(agent, 'hello', { session: 'mine' });
    expect(session.id).toBe('mine');
    await run(agent, 'more', { session });
    const document = deepFreeze(session.toJSON());
    const third = await run(agent, 'again', { session: document });
    expect(third.session).not.toBe(session);
    expect(transcript(third.session.messages).at(-1)).toBe('assistant: three');
    expect(transcript(session.messages).at(-1)).toBe('assistant: two');
  });

  test('the result says what the turn added, spent and came to', async () => {
    const model = scriptedModel([
      { ...calls(call('F1')), usage: { totalTokens: 2 } },
      { text: 'world', usage: { totalTokens: 3 } },
    ]);
    const { result } = await run(createAgent({ model, tools: [F1] }), 'hello', { session: 's' });
    expect(result).toEqual({
      outcome: { type: 'answered' },
      text: 'world',
      messages: expect.any(Array),
      pending: [],
      usage: { totalTokens: 5 },
      modelCalls: [
        { turn: 1, model: 'scripted', finishReason: 'tool-calls', usage: { totalTokens: 2 } },
        { turn: 1, model: 'scripted', finishReason: 'stop', usage: { totalTokens: 3 } },
      ],
      iterations: 1,
      sessionId: 's',
    });
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });

  test('a turn that failed: the error carries code, result, session and cause, survives JSON, and can be retried', async () => {
    const model = scriptedModel([new TypeError('Oh no!', { cause: new Error('why') }), 'world']);
    const agent = createAgent({ model });
    const { error } = await run(agent, 'hello');
    expect(error).toBeInstanceOf(TurnError);
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({
      name: 'TurnError',
      code: 'model-error',
      message: 'Oh no!',
      cause: { name: 'TypeError', message: 'Oh no!', cause: { message: 'why' } },
    });
    expect(error?.result).toMatchObject({
      outcome: { type: 'failed', code: 'model-error' },
      text: '',
      sessionId: error?.sessionId,
    });
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      code: 'model-error',
      sessionId: error?.sessionId,
      result: { iterations: 0 },
    });
    const session = await agent.open(error?.sessionId);
    await session.retry();
    expect((await session.settled()).text).toBe('world');
    model.assertFinished();
  });

  test('LC24: a signal that was aborted before: the model is never asked', async () => {
    const model = scriptedModel([]);
    const { result } = await run(createAgent({ model }), 'hello', { signal: AbortSignal.abort() });
    expect(result.outcome).toEqual({ type: 'stopped', reason: 'aborted' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(model.requests).toHaveLength(0);
  });

  test.each<[string, () => AbortSignal, string]>([
    ['a text', () => AbortSignal.abort('too late'), 'too late'],
    ['an Error', () => AbortSignal.abort(new Error('user left')), 'user left'],
    ['an Error without words', () => AbortSignal.abort(new Error('')), 'aborted'],
    ['what is no Error', () => AbortSignal.abort({ code: 7 }), 'aborted'],
    ['the time', () => AbortSignal.abort(new DOMException('it took too long', 'TimeoutError')), 'it took too long'],
  ])('LC24: a signal that aborts with %s: its words are the reason', async (_, signal, reason) => {
    const { result } = await run(createAgent({ model: scriptedModel([]) }), 'hello', { signal: signal() });
    expect(result.outcome).toEqual({ type: 'stopped', reason });
  });

  test('LC24, D15: a signal that aborts while the model thinks, or inside a tool', async () => {
    for (const where of ['model', 'tool']) {
      const abort = new AbortController();
      const held = heldTool('held');
      const model = scriptedModel([
        where === 'tool'
          ? calls(call('held'))
          : (_, { signal }) =>
              new Promise((_resolve, reject) => {
                signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
                abort.abort();
              }),
      ]);
      const running = run(createAgent({ model, tools: [held.tool], stopGrace: 0 }), 'hello', { signal: abort.signal });
      if (where === 'tool') {
        await held.whenBegun(1);
        abort.abort();
      }
      const { result } = await running;
      expect(result.outcome).toEqual({ type: 'stopped', reason: 'aborted' });
      if (where === 'tool') expect(held.begun[0]?.signal.aborted).toBe(true);
    }
  });

  test('a signal that aborts when the turn is over does nothing', async () => {
    const abort = new AbortController();
    const agent = createAgent({ model: scriptedModel(['one', 'two']) });
    const { session } = await run(agent, 'hello', { signal: abort.signal });
    const next = run(agent, 'more', { session });
    abort.abort();
    expect((await next).result.text).toBe('two');
  });

  test.each([
    ['', 'invalid-message'],
    [[], 'invalid-message'],
  ])('input %j is refused', async (input, code) => {
    await expect(run(createAgent({ model: scriptedModel([]) }), input)).rejects.toMatchObject({ code });
  });

  test('R1: limits of one run that are out of bounds are refused', async () => {
    const agent = createAgent({ model: scriptedModel([]) });
    await expect(run(agent, 'hello', { limits: { maxIterations: 0 } })).rejects.toMatchObject({
      code: 'invalid-option',
      message: 'run: option "limits.maxIterations" must be an integer ≥ 1, got 0',
    });
  });

  test('a session that is none is refused', async () => {
    const agent = createAgent({ model: scriptedModel([]) });
    // @ts-expect-error: the type says what a session is.
    await expect(run(agent, 'hello', { session: { actor: 1 } })).rejects.toMatchObject({ code: 'invalid-option' });
    // @ts-expect-error: the type says what a document is.
    await expect(run(agent, 'hello', { session: {} })).rejects.toMatchObject({ code: 'invalid-document' });
  });
});

describe('stream', () => {
  test('leaving the loop early stops the turn', async () => {
    const held = heldTool('held');
    const agent = createAgent({ model: scriptedModel([calls(call('held'))]), tools: [held.tool], stopGrace: 0 });
    const stream = agent.stream('hello');
    for await (const event of stream) {
      if (event.type !== 'tool-call') continue;
      await held.whenBegun(1);
      break;
    }
    const result = await stream.result;
    expect(result.outcome.type).toBe('stopped');
    expect(held.begun[0]?.signal.aborted).toBe(true);
    expectWhole(result.messages);
  });

  test('it runs without a reader, and tells a late reader everything', async () => {
    const stream = createAgent({ model: scriptedModel(['one two']) }).stream('hello');
    expect((await stream.result).text).toBe('one two');
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types.filter((type) => type === 'text-delta')).toHaveLength(2);
    expect(types.at(-1)).toBe('finish');
  });

  test('where it can not begin the reader learns why', async () => {
    const stream = createAgent({ model: scriptedModel([]) }).stream('');
    const read = async (): Promise<void> => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toMatchObject({ code: 'invalid-message' });
  });

  test('it ends when the turn waits for somebody', async () => {
    const { events } = await runStreamed(
      createAgent({ model: scriptedModel([calls(call('gated'))]), tools: [gated] }),
      'hello',
    );
    expect(events.at(-1)).toMatchObject({
      type: 'finish',
      result: { outcome: { type: 'pending' }, pending: [{ tool: 'gated' }] },
    });
  });

  test('in a process where nobody listens no rejection is left unhandled', async () => {
    const script = new URL('scripts/unheard.ts', import.meta.url).pathname;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [script]);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'stopped' });
    expect(stderr).toBe('');
  });
});

describe('sessions', () => {
  test('an id opens the same live session, also for two that ask at once', async () => {
    const agent = createAgent({ model: scriptedModel([]) });
    const [first, second] = await Promise.all([agent.open('x'), agent.open('x')]);
    expect(first).toBe(second);
    expect(await agent.open('x')).toBe(first);
    expect(await agent.open('y')).not.toBe(first);
    expect(first.id).toBe('x');
    expect(first.status).toBe('idle');
  });

  test('ids are data: any text opens a session of its own', async () => {
    const agent = createAgent({ model: scriptedModel(['1', '2', '3', '4']) });
    for (const id of ['__proto__', 'constructor', '../x', ' ']) {
      const session = await agent.open(id);
      expect(session.id).toBe(id);
      await agent.run('hello', { session });
      expect(session.messages).toHaveLength(2);
    }
  });

  test('two agents with one store share sessions', async () => {
    const store = memoryStore();
    const first = createAgent({ model: scriptedModel(['one']), store });
    await first.run('hello', { session: 'x' });
    const second = createAgent({ model: scriptedModel(['two']), store });
    const session = await second.open('x');
    expect(transcript(session.messages)).toEqual(['user: hello', 'assistant: one']);
    expect((await second.run('more', { session })).text).toBe('two');
  });

  test('`status` tells where it is', async () => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held')), calls(call('gated')), 'world']);
    const session = await createAgent({ model, tools: [held.tool, gated] }).open();
    expect(session.status).toBe('idle');
    void session.send('hello');
    await held.whenBegun(1);
    expect(session.status).toBe('busy');
    held.end(0);
    await session.settled();
    expect(session.status).toBe('waiting');
    await session.approve('call_2_0');
    await session.settled();
    expect(session.status).toBe('settled');
    await session[Symbol.asyncDispose]();
    expect(session.status).toBe('closed');
  });

  test('a closed session refuses everything with `session-closed`; opened again it goes on', async () => {
    const model = scriptedModel([calls(call('gated')), 'world']);
    const agent = createAgent({ model, tools: [gated] });
    const { sessionId } = await agent.run('hello');
    const session = await agent.open(sessionId);
    await session[Symbol.asyncDispose]();
    await session[Symbol.asyncDispose]();
    for (const act of [
      () => session.send('x'),
      () => session.approve('call_1_0'),
      () => session.reject('call_1_0'),
      () => session.respond('call_1_0', 1),
      () => session.cancel('call_1_0'),
      () => session.stop(),
      () => session.retry(),
      () => agent.run('x', { session }),
    ]) {
      await expect(act()).rejects.toMatchObject({ code: 'session-closed' });
    }
    for await (const _ of session.events());
    const again = await agent.open(sessionId);
    expect(again).not.toBe(session);
    await again.approve('call_1_0');
    expect((await again.settled()).text).toBe('world');
  });

  test('closing while a call runs gives it its signal; what waits is told', async () => {
    const held = heldTool('held');
    const agent = createAgent({ model: scriptedModel([calls(call('held'))]), tools: [held.tool] });
    const session = await agent.open();
    const run = agent.run('hello', { session });
    const settled = Promise.allSettled([run]);
    await held.whenBegun(1);
    await session[Symbol.asyncDispose]();
    expect(held.begun[0]?.signal.aborted).toBe(true);
    expect(await settled).toMatchObject([{ status: 'rejected', reason: { code: 'session-closed' } }]);
    await expect(session.settled()).rejects.toMatchObject({ code: 'session-closed' });
  });

  test('`settled` and `retry` say where there is nothing', async () => {
    const agent = createAgent({ model: scriptedModel(['world']) });
    const session = await agent.open();
    await expect(session.settled()).rejects.toMatchObject({ code: 'session-idle' });
    await expect(session.retry()).rejects.toMatchObject({ code: 'nothing-to-retry' });
    await agent.run('hello', { session });
    await expect(session.retry()).rejects.toMatchObject({ code: 'nothing-to-retry' });
  });

  test('an inspector that throws breaks nothing', async () => {
    const agent = createAgent({ model: scriptedModel([calls(call('F1')), 'world']), tools: [F1] });
    let events = 0;
    const inspect = (): void => {
      events += 1;
      throw new Error('broken inspector');
    };
    expect((await agent.run('hello', { inspect })).text).toBe('world');
    expect(events).toBeGreaterThan(10);
  });

  test('what a machine throws breaks its session with a typed error, and aborts what runs', async () => {
    const held = heldTool('held');
    let isBroken = false;
    const clock = {
      now: () => {
        if (isBroken) throw new Error('broken clock');
        return 0;
      },
      setTimeout: () => 0,
      clearTimeout: () => undefined,
    };
    const agent = createAgent({
      model: scriptedModel([calls(call('gated'), call('held'))]),
      tools: [gated, held.tool],
      clock,
      approvals: { hold: 'gated' },
    });
    const session = await agent.open();
    const run = agent.run('hello', { session });
    const settled = Promise.allSettled([run]);
    await held.whenBegun(1);
    await waitFor(session.actor, ({ context }) => context.round?.calls[0]?.phase === 'awaiting-decision');
    isBroken = true;
    await expect(session.approve('call_1_0')).rejects.toMatchObject({ code: 'machine-error' });
    expect(await settled).toMatchObject([
      { status: 'rejected', reason: { code: 'machine-error', message: expect.stringContaining('broken clock') } },
    ]);
    expect(held.begun[0]?.signal.aborted).toBe(true);
    expect(session.status).toBe('closed');
    await expect(session.send('x')).rejects.toMatchObject({ code: 'machine-error' });
  });

  test('the context of a turn reaches its tools, and is given again on open and restore', async () => {
    const seen: unknown[] = [];
    const look = toolOf(
      'look',
      (_, { context }) => {
        seen.push(context);
      },
      { needsApproval: true },
    );
    const agent = createAgent({
      model: scriptedModel([calls(call('look'), call('look', { n: 1 })), 'world']),
      tools: [look],
      approvals: { hold: 'gated' },
    });
    const { sessionId } = await agent.run('hello', { context: 'first' });
    const session = await agent.open(sessionId);
    await session.approve('call_1_0');
    const restored = agent.restore(session.toJSON(), { context: 'second' });
    await restored.approve('call_1_1');
    await restored.settled();
    expect(seen).toEqual(['first', 'second']);
    expect(results(restored.messages)).toHaveLength(2);
    expect(JSON.stringify(session.toJSON())).not.toContain('"first"');
  });

  test.each(['before', 'model', 'tool'])(
    'R38: a store that can not save any more (%s): no further effect, and the run fails',
    async (when) => {
      let isFull = when === 'before';
      let runs = 0;
      const model = scriptedModel([
        () => {
          isFull ||= when === 'model';
          return calls(call('counted'));
        },
      ]);
      const inner = memoryStore();
      const store: SessionStore = {
        ...inner,
        durable: true,
        commit: async (commit) => {
          if (isFull) throw new Error('disk full');
          await inner.commit(commit);
        },
      };
      const counted = toolOf('counted', () => {
        isFull ||= when === 'tool';
        runs += 1;
      });
      const agent = createAgent({ model, tools: [counted], store });
      await expect(agent.run('hello')).rejects.toMatchObject({
        code: 'store-error',
        message: expect.stringContaining('disk full'),
      });
      expect(model.requests).toHaveLength(when === 'before' ? 0 : 1);
      expect(runs).toBe(when === 'tool' ? 1 : 0);
    },
  );
});

test('M01: whoever holds the actor of a session, and nothing else of it, finds that session when it is opened again', async () => {
  const agent = createAgent({ model: scriptedModel([calls(call('gated'))]), tools: [gated] });
  const begin = async () => {
    const session = await agent.open('held');
    await session.send('hello');
    await session.settled();
    return session.actor;
  };
  const actor = await begin();
  await collect();
  expect((await agent.open('held')).actor).toBe(actor);
});

test.each([
  ['a session', {}],
  ['a session with middleware around its turns', { agentMiddleware: [(next: RunTurn): RunTurn => next] }],
])('R34, M01: whoever waits for the next event of %s, or for the fate of a message, holds it', async (_, options) => {
  const agent = createAgent({ ...options, model: modelOfTurns(calls(call('gated')), 'done'), tools: [gated] });
  await agent.run('hello', { session: 'held' });
  const heard: string[] = [];
  const listen = async () => {
    for await (const { type } of (await agent.open('held')).events()) heard.push(type);
    heard.push('closed');
  };
  const send = async () => {
    const { type } = await (await agent.open('held')).send('more');
    heard.push(type);
  };
  // Neither has anything but what it waits for.
  const waiting = [listen(), send()].map((work) => work.then(() => true));
  await turnOfLoop();
  await collect();
  await collect();
  const session = await agent.open('held');
  await session.approve('call_1_0');
  await waitFor(session.actor, () => session.pending.some(({ callId }) => callId === 'call_2_0'), { timeout: 10_000 });
  await agent.close();
  await Promise.all(waiting);
  expect(heard.at(-1)).toBe('closed');
  expect(heard).toEqual(expect.arrayContaining(['approval-response', 'tool-result', 'finish', 'delivered']));
});

test('R46/R34: with middleware around the turns, too, a message is delivered when that is stored', async () => {
  const inner = memoryStore();
  let stored = 0;
  const commit: SessionStore['commit'] = async (given) => {
    await turnOfLoop();
    await inner.commit(given);
    stored += given.messages.length;
  };
  const agent = createAgent({
    model: scriptedModel(['done']),
    store: { ...inner, durable: true, commit },
    agentMiddleware: [(next) => next],
  });
  expect(await (await agent.open()).send('hello')).toEqual({ type: 'delivered' });
  expect(stored).toBeGreaterThan(0);
});
