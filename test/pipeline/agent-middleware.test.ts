import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type Agent,
  type AgentEvent,
  type AgentMiddleware,
  type AgentOptions,
  type RunTurn,
  type TurnRun,
  createAgent,
  memoryStore,
} from '../../src/index.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { scriptedModel, violations } from '../../src/testing/index.ts';
import { rejection, reopened, saved } from '../support/sessions.ts';
import { call, calls, heldTool, toolOf } from '../support/tools.ts';

const user = (content: string) => ({ role: 'user' as const, content });

/** Notes what goes in and what comes out, with a name. */
const noting =
  (log: string[], name = 'turn'): AgentMiddleware =>
  (next) =>
  async (turn) => {
    log.push(`${name} in ${turn.isContinued ? 'continued' : JSON.stringify(turn.messages[0]?.content)}`);
    try {
      const result = await next(turn);
      log.push(`${name} out ${result.outcome.type} ${result.text}`);
      return result;
    } catch (error) {
      log.push(`${name} failed ${(error as Error).message}`);
      throw error;
    }
  };

const make = (answers: Parameters<typeof scriptedModel>[0], options: Omit<AgentOptions, 'model'> = {}) => {
  const model = scriptedModel(answers);
  return { model, agent: createAgent({ model, ...options }) };
};

const pay = toolOf('pay', () => 'paid', { needsApproval: true });

const starts: [name: string, start: (agent: Agent, question: string) => Promise<{ text: string }>][] = [
  ['run', (agent, question) => agent.run(question)],
  ['stream', (agent, question) => agent.stream(question).result],
  [
    'send',
    async (agent, question) => {
      const session = await agent.open();
      await session.send(question);
      return session.settled();
    },
  ],
];

describe.each(starts)('R46: agent middleware around a turn by %s', (_name, start) => {
  it('stands around the turn, the first one outermost', async () => {
    const log: string[] = [];
    const { agent } = make(['hi'], { agentMiddleware: [noting(log, 'a'), noting(log, 'b')] });
    expect((await start(agent, 'hello')).text).toBe('hi');
    expect(log).toEqual(['a in "hello"', 'b in "hello"', 'b out answered hi', 'a out answered hi']);
  });

  it('changes the messages that go in and the result that comes out', async () => {
    const meddle: AgentMiddleware = (next) => async (turn) => {
      const result = await next({ ...turn, messages: [user('in English, please'), ...turn.messages] });
      return { ...result, text: result.text.toUpperCase() };
    };
    const { agent, model } = make(['hi'], { agentMiddleware: [meddle] });
    expect((await start(agent, 'hello')).text).toBe('HI');
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual(['in English, please', 'hello']);
  });

  it('answers itself: no model is asked, and the session hears nothing of it', async () => {
    const { agent, model } = make(['second'], {
      agentMiddleware: [(next) => async (turn) => (turn.messages.length > 1 ? next(turn) : turn.answer('not that'))],
    });
    expect((await start(agent, 'hello')).text).toBe('not that');
    expect(model.requests).toEqual([]);
  });

  it('calls next again, which is a turn of its own in the session', async () => {
    const again: AgentMiddleware = (next) => async (turn) => {
      await next(turn);
      return next({ ...turn, messages: [user('shorter, please')] });
    };
    const { agent, model } = make(['a long answer', 'short'], { agentMiddleware: [again] });
    expect((await start(agent, 'hello')).text).toBe('short');
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  it('lets errors through, and may throw its own', async () => {
    const log: string[] = [];
    const { agent } = make([new Error('no network')], { agentMiddleware: [noting(log)] });
    const error = await rejection(start(agent, 'hello'));
    expect([error.name, error.code, error.message]).toEqual(['TurnError', 'model-error', 'no network']);
    expect(log).toEqual(['turn in "hello"', 'turn failed no network']);

    const closed = make([], { agentMiddleware: [() => async () => Promise.reject(new Error('no budget'))] });
    expect((await rejection(start(closed.agent, 'hello'))).message).toBe('no budget');
  });
});

describe('R46: what an agent middleware is told', () => {
  it('agent, session, context, metadata and options of the turn, and it may change them', async () => {
    const seen: unknown[] = [];
    const told: unknown[] = [];
    const tell = toolOf('tell', (_, ctx) => void told.push(ctx.context, ctx.metadata));
    const { agent, model } = make([calls(call('tell')), 'done'], {
      name: 'clerk',
      tools: [tell],
      agentMiddleware: [
        (next) => (turn) => {
          seen.push(JSON.parse(JSON.stringify(turn)));
          const settings = { ...turn.settings, temperature: 0 };
          return next({ ...turn, context: { tenant: 2 }, metadata: { ...turn.metadata, trace: 't1' }, settings });
        },
      ],
    });
    const { sessionId } = await agent.run('hello', { context: { tenant: 1 }, metadata: { user: 'ann' } });
    expect(seen).toEqual([
      {
        agent: 'clerk',
        sessionId,
        messages: [user('hello')],
        isContinued: false,
        context: { tenant: 1 },
        metadata: { user: 'ann' },
        signal: {},
      },
    ]);
    expect(told).toEqual([{ tenant: 2 }, { user: 'ann', trace: 't1' }]);
    expect(model.requests[0]?.settings).toEqual({ temperature: 0 });
  });

  it('the context that the session was opened with, where the turn brings none', async () => {
    const seen: unknown[] = [];
    const { agent } = make(['a', 'b'], {
      agentMiddleware: [(next) => (turn) => next((seen.push(turn.context), turn))],
    });
    const session = await agent.open('s', { context: 1 });
    await session.send('hello');
    await session.settled();
    await agent.open('s', { context: 2 });
    await session.send('hello');
    await session.settled();
    expect(seen).toEqual([1, 2]);
  });

  it('a model that it puts in stands behind the model middleware, as that of a run does', async () => {
    const names: string[] = [];
    const other = scriptedModel(['other'], { name: 'other' });
    const { agent } = make([], {
      modelMiddleware: [
        (next) => ({
          name: next.name,
          generate: (request, options) => (names.push(next.name), next.generate(request, options)),
        }),
      ],
      agentMiddleware: [(next) => (turn) => next({ ...turn, model: other })],
    });
    expect((await agent.run('hello')).text).toBe('other');
    expect(names).toEqual(['other']);
  });

  it('the signal of the caller, before and after next', async () => {
    const caller = new AbortController();
    const heard: unknown[] = [];
    const waiting = Promise.withResolvers<void>();
    const { agent, model } = make([], {
      agentMiddleware: [
        (next) => async (turn) => {
          waiting.resolve();
          await new Promise((resolve) => turn.signal.addEventListener('abort', resolve, { once: true }));
          heard.push(turn.signal.reason);
          return next(turn);
        },
      ],
    });
    const running = agent.run('hello', { signal: caller.signal });
    await waiting.promise;
    caller.abort('enough');
    expect((await running).outcome).toEqual({ type: 'stopped', reason: 'enough' });
    expect([heard, model.requests]).toEqual([['enough'], []]);
  });

  it('that the reader of a stream has left', async () => {
    const held = heldTool('held');
    const signals: AbortSignal[] = [];
    const { agent } = make([calls(call('held'))], {
      tools: [held.tool],
      stopGrace: 0,
      agentMiddleware: [(next) => (turn) => next((signals.push(turn.signal), turn))],
    });
    const stream = agent.stream('hello');
    for await (const event of stream) if (event.type === 'tool-call') break;
    expect((await stream.result).outcome).toEqual({ type: 'stopped', reason: 'the reader left' });
    expect(signals[0]?.aborted).toBe(true);
  });
});

describe('R46: what is wrong with an agent middleware', () => {
  it.each([
    [undefined, /agentMiddleware\[1\] gave no function/],
    [{}, /agentMiddleware\[1\] gave no function/],
  ])('LC42: one that gives %j is refused with its place', (made, message) => {
    const bad = (() => made) as unknown as AgentMiddleware;
    expect(() => make([], { agentMiddleware: [(next) => next, bad] })).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringMatching(message) as string }),
    );
  });

  it.each([
    ['no result', () => async () => undefined as never, /agentMiddleware\[0\] gave no result/],
    ['no messages', (next: RunTurn) => (turn: TurnRun) => next({ ...turn, messages: [] }), /message/],
    [
      'a turn of its own make',
      (next: RunTurn) => () => next({ messages: [user('x')] } as never),
      /next needs the turn/,
    ],
    ['no turn', (next: RunTurn) => () => next(undefined as never), /next needs the turn/],
    [
      'an option out of bounds',
      (next: RunTurn) => (turn: TurnRun) => next({ ...turn, limits: { maxIterations: 0 } }),
      /agentMiddleware: next: option "limits.maxIterations" must be an integer ≥ 1, got 0/,
    ],
  ])('LC42: %s is an error of the run', async (_name, middleware, message) => {
    const { agent } = make(['x'], { agentMiddleware: [middleware] });
    expect((await rejection(agent.run('hello'))).message).toMatch(message);
  });
});

it('R46/R34: a message that a middleware answers is discarded, and its fate says so', async () => {
  const { agent } = make([], { agentMiddleware: [() => async (turn) => turn.answer('closed on Sundays')] });
  const session = await agent.open();
  expect(await session.send('hello')).toEqual({ type: 'discarded', reason: 'answered by a middleware' });
  expect([session.messages, session.status, (await session.settled()).text]).toEqual([[], 'idle', 'closed on Sundays']);
});

it('R46: who reads along learns of an answer that no turn gave', async () => {
  const { agent } = make([], { agentMiddleware: [() => async (turn) => turn.answer('closed')] });
  const events: AgentEvent[] = [];
  for await (const event of agent.stream('hello')) events.push(event);
  expect(events).toEqual([
    { type: 'text-delta', text: 'closed' },
    { type: 'finish', turn: 0, result: expect.objectContaining({ text: 'closed', messages: [] }) as unknown },
  ]);
});

it('R46: an error of the middleware after a message was delivered is told to those who read along', async () => {
  const { agent } = make(['hi'], {
    agentMiddleware: [(next) => (turn) => next(turn).then(() => Promise.reject(new Error('the audit log is full')))],
  });
  const session = await agent.open();
  const events = session.events()[Symbol.asyncIterator]();
  expect(await session.send('hello')).toEqual({ type: 'delivered' });
  const told: AgentEvent[] = [];
  while (told.at(-1)?.type !== 'error') told.push((await events.next()).value as AgentEvent);
  expect(told.at(-1)).toEqual({ type: 'error', error: { name: 'Error', message: 'the audit log is full' } });
  expect((await rejection(session.settled())).message).toBe('the audit log is full');
});

describe('R46: a turn that goes on', () => {
  it('is seen twice: until it waits, and from the decision on; settled() gives what the middleware gave', async () => {
    const log: string[] = [];
    const loud: AgentMiddleware = (next) => async (turn) => {
      const result = await next(turn);
      return { ...result, text: result.text.toUpperCase() };
    };
    const { agent } = make([calls(call('pay')), 'paid'], { tools: [pay], agentMiddleware: [noting(log), loud] });
    const { sessionId, pending } = await agent.run('pay');
    const session = await agent.open(sessionId);
    await session.approve(pending[0]?.callId ?? '');
    expect((await session.settled()).text).toBe('PAID');
    expect((await session.settled()).text).toBe('PAID');
    expect(log).toEqual(['turn in "pay"', 'turn out pending ', 'turn in continued', 'turn out answered PAID']);
  });

  it('in another process is told as continued, with the metadata of its begin; reading a result back is no turn', async () => {
    const log: string[] = [];
    const seen: TurnRun[] = [];
    const keep: AgentMiddleware = (next) => (turn) => {
      seen.push(turn);
      return next(turn.isContinued ? turn : { ...turn, metadata: { trace: 't1' } });
    };
    const first = make([calls(call('pay'))], { tools: [pay], agentMiddleware: [keep] });
    const { sessionId } = await first.agent.run('pay', { context: 'live' });
    const document = saved(await first.agent.open(sessionId));

    const second = make(['paid'], { tools: [pay], agentMiddleware: [noting(log), keep] });
    const session = second.agent.restore(document, { context: 'given again' });
    const { outcome, pending } = await session.settled();
    expect([outcome.type, log]).toEqual(['pending', []]);
    await session.approve(pending[0]?.callId ?? '');
    expect((await session.settled()).text).toBe('paid');
    expect(log).toEqual(['turn in continued', 'turn out answered paid']);
    expect(
      seen.map(({ isContinued, messages, metadata, context }) => [isContinued, messages.length, metadata, context]),
    ).toEqual([
      [false, 1, undefined, 'live'],
      [true, 0, { trace: 't1' }, 'given again'],
    ]);
    const third = make([], { agentMiddleware: [noting(log)], tools: [pay] });
    expect((await third.agent.restore(saved(session)).settled()).text).toBe('paid');
    expect(log).toHaveLength(2);
  });

  it('goes on by a decision that another process left in the store, or that the next opener makes', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'agentchart-turns-')), 'sessions.db');
    onTestFinished(() => rm(dirname(file), { recursive: true, force: true, maxRetries: 3 }));
    const log: string[] = [];
    const seen: unknown[] = [];
    const keep: AgentMiddleware = (next) => (turn) => {
      seen.push([turn.isContinued, turn.context, turn.metadata]);
      return next(turn.isContinued ? turn : { ...turn, metadata: { trace: 't1' } });
    };
    const own = (...answers: string[]) =>
      make([calls(call('pay')), ...answers], {
        tools: [pay],
        store: sqliteStore(file),
        agentMiddleware: [noting(log), keep],
      }).agent;
    const first = own('paid');
    const { sessionId, pending } = await first.run('pay', { context: 'live' });
    const session = await first.open(sessionId);
    const other = sqliteStore(file);
    const { callId = '', inputHash = '' } = pending[0] ?? {};
    const events = session.events();
    await other.post(sessionId, { type: 'approval.granted', callId, inputHash });
    for await (const event of events) if (event.type === 'finish' && event.result.outcome.type === 'answered') break;
    expect((await session.settled()).text).toBe('paid');
    expect(log).toEqual(['turn in "pay"', 'turn out pending ', 'turn in continued', 'turn out answered paid']);
    await first.close();

    const { sessionId: waiting } = await own().run('pay');
    const second = make(['paid elsewhere'], { tools: [pay], store: sqliteStore(file), agentMiddleware: [keep] });
    const reopened = await second.agent.open(waiting, { context: 'given again' });
    await reopened.approve(reopened.pending[0]?.callId ?? '');
    expect((await reopened.settled()).text).toBe('paid elsewhere');
    await second.agent.close();
    expect(seen).toEqual([
      [false, 'live', undefined],
      [true, 'live', { trace: 't1' }],
      [false, undefined, undefined],
      [true, 'given again', { trace: 't1' }],
    ]);
  });

  it('is seen from a restore on where it was at work, and after a retry', async () => {
    const held = heldTool('look', { annotations: { readOnly: true } });
    const log: string[] = [];
    const first = make([calls(call('look'))], { tools: [held.tool] });
    const before = await first.agent.open();
    await before.send('look');
    await held.whenBegun(1);
    const { agent } = make([new Error('gone'), 'seen'], { tools: [held.tool], agentMiddleware: [noting(log)] });
    const session = reopened(agent, before);
    await held.whenBegun(2);
    held.end(1);
    expect((await rejection(session.settled())).message).toBe('gone');
    await session.retry();
    expect((await session.settled()).text).toBe('seen');
    expect(log).toEqual(['turn in continued', 'turn failed gone', 'turn in continued', 'turn out answered seen']);
    expect(violations(session.messages)).toEqual([]);
  });

  it('is seen where a decision ends it at once', async () => {
    const log: string[] = [];
    const ask = toolOf('ask', () => '', { needsApproval: true, returnDirect: true });
    const { agent } = make([calls(call('ask'))], { tools: [ask], agentMiddleware: [noting(log)] });
    const { sessionId, pending } = await agent.run('ask');
    const session = await agent.open(sessionId);
    await session.respond(pending[0]?.callId ?? '', 'my answer');
    expect((await session.settled()).text).toBe('my answer');
    expect(log.slice(2)).toEqual(['turn in continued', 'turn out answered my answer']);
  });

  it('has its own result where the next turn follows at once', async () => {
    const held = heldTool('look', { annotations: { readOnly: true } });
    const log: string[] = [];
    const first = make([calls(call('look'))], { tools: [held.tool] });
    const before = await first.agent.open();
    await before.send('look');
    await held.whenBegun(1);
    const { agent } = make(['seen', 'hello'], { tools: [held.tool], agentMiddleware: [noting(log)] });
    const session = reopened(agent, before);
    await held.whenBegun(2);
    const next = agent.run('hi', { session });
    held.end(1);
    expect((await session.settled()).text).toBe('hello');
    expect((await next).text).toBe('hello');
    expect(log.slice(0, 2)).toEqual(['turn in continued', 'turn in "hi"']);
    expect(log.slice(2)).toEqual(['turn out answered seen', 'turn out answered hello']);
  });
});

it('R46/R34: a message for the turn under way begins none', async () => {
  const held = heldTool('held');
  const log: string[] = [];
  const { agent } = make([calls(call('held')), 'done'], { tools: [held.tool], agentMiddleware: [noting(log)] });
  const session = await agent.open();
  await session.send('go');
  await held.whenBegun(1);
  const fate = session.send('also this', { mode: 'steer' });
  held.end(0);
  expect(await fate).toEqual({ type: 'delivered' });
  expect((await session.settled()).text).toBe('done');
  expect(log).toEqual(['turn in "go"', 'turn out answered done']);
});

it('R46: turns that are queued each have their own middleware run and result', async () => {
  const log: string[] = [];
  const { agent } = make(['one', 'two', 'three'], { agentMiddleware: [noting(log)] });
  const session = await agent.open();
  const results = await Promise.all(['1', '2', '3'].map((question) => agent.run(question, { session })));
  expect(results.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
  expect(log.filter((line) => line.includes('continued'))).toEqual([]);
  expect(log.filter((line) => line.includes('out'))).toEqual(
    ['one', 'two', 'three'].map((text) => `turn out answered ${text}`),
  );
});

it('R46/LC51: concurrent sessions of one agent never see each other', async () => {
  const seen = new Map<string, string[]>();
  const watch: AgentMiddleware = (next) => async (turn) => {
    const note = (text: string) => seen.set(turn.sessionId, [...(seen.get(turn.sessionId) ?? []), text]);
    note(JSON.stringify(turn.messages[0]?.content));
    const result = await next({ ...turn, metadata: { id: turn.sessionId } });
    note(result.text);
    expect(result.sessionId).toBe(turn.sessionId);
    return result;
  };
  const told: [string, string | undefined][] = [];
  const tell = toolOf('tell', (_, ctx) => void told.push([ctx.sessionId, ctx.metadata['id']]));
  const count = 20;
  const answer = ({ messages }: { messages: readonly { role: string; content: unknown }[] }) =>
    messages.at(-1)?.role === 'tool' ? `re ${String(messages[0]?.content)}` : calls(call('tell'));
  const { agent } = make(
    Array.from({ length: 2 * count }, () => answer),
    { tools: [tell], agentMiddleware: [watch] },
  );
  const results = await Promise.all(Array.from({ length: count }, (_, index) => agent.run(`q${index}`)));
  expect(results.map(({ text }) => text)).toEqual(Array.from({ length: count }, (_, index) => `re q${index}`));
  for (const [index, { sessionId }] of results.entries())
    expect(seen.get(sessionId)).toEqual([`"q${index}"`, `re q${index}`]);
  expect(told).toHaveLength(count);
  expect(told.every(([session, id]) => session === id)).toBe(true);
});

it('R46: metadata is in the document, reaches the agents that are tools, and is refused where it is no texts', async () => {
  const told: unknown[] = [];
  const tell = toolOf('tell', (_, ctx) => void told.push(ctx.metadata));
  const inner = make([calls(call('tell')), 'inner'], { tools: [tell] });
  const asked: unknown[] = [];
  const { agent } = make(
    [calls(call('helper', { prompt: 'help' })), (_request, { metadata }) => (asked.push(metadata), 'outer')],
    {
      tools: [inner.agent.asTool({ name: 'helper' })],
      store: memoryStore(),
    },
  );
  const { sessionId } = await agent.run('go', { metadata: { tenant: 'a' } });
  expect([told, asked]).toEqual([[{ tenant: 'a' }], [{ tenant: 'a' }]]);
  const document = saved(await agent.open(sessionId));
  expect(JSON.stringify(document)).toContain('"metadata":{"tenant":"a"}');
  expect(await rejection(agent.run('go', { metadata: { n: 1 } as never }))).toMatchObject({ code: 'invalid-option' });
  const damaged = JSON.stringify(document).replace('"metadata":{"tenant":"a"}', '"metadata":{"tenant":1}');
  expect(() => agent.restore(damaged)).toThrow(expect.objectContaining({ code: 'invalid-document' }));
});
