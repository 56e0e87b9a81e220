import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ModelError } from '../../src/models/model-error.ts';
import type { ChatModel, ModelReply, ModelRequest } from '../../src/models/chat-model.ts';
import { violations } from '../../src/messages/violations.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Session } from '../../src/sessions/session.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { strictRefusals } from '../support/strict-history.ts';
import { call, calls, outsideTool, toolOf } from '../support/tools.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => {
  unhandled.push(reason);
};
beforeAll(() => {
  process.on('unhandledRejection', note);
});
afterAll(() => {
  process.off('unhandledRejection', note);
});

/** Lets others go first, that many turns of the microtask queue. */
const hops = async (count: number): Promise<void> => {
  for (let done = 0; done < count; done += 1) await Promise.resolve();
};
const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

const tools = [
  toolOf('quick', () => 'quick'),
  toolOf('slow', async (_, { attempt }) => hops(attempt * 7), { annotations: { idempotent: true } }),
  toolOf('broken', () => new Error('Oh no!')),
  toolOf('flaky', (_, { attempt }) => (attempt < 3 ? new Error('again') : 'ok'), { retry: { attempts: 3 } }),
  toolOf('late', () => new Promise(() => undefined), { timeout: 50 }),
  toolOf('hanging', (_, { signal }) => untilAborted(signal), { onInterrupted: 'ask' }),
  toolOf('stubborn', () => new Promise(() => undefined)),
  toolOf('alone', async () => hops(3), { sequential: true, onInterrupted: 'retry' }),
  toolOf('gated', () => 'gated', { needsApproval: true }),
  toolOf('strict', () => 'strict', { needsApproval: async ({ n }) => hops(2).then(() => n !== 1), returnDirect: true }),
  toolOf('last', (_, ctx) => ctx.endTurn()),
  outsideTool('outside'),
  outsideTool('asked', { needsApproval: true, sequential: true }),
];

const toolCall = fc
  .record({
    name: fc.constantFrom(...tools.map(({ name }) => name), 'nope'),
    input: fc.constantFrom<unknown[]>({}, { n: 1 }, { n: 2 }, '{"cut', null),
    id: fc.constantFrom('', 'c1', 'c2'),
  })
  .map(({ name, input, id }) => call(name, input, id));
const reply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  { weight: 8, arbitrary: fc.array(toolCall, { minLength: 1, maxLength: 4 }).map((list) => calls(...list)) },
  { weight: 2, arbitrary: fc.constant({ text: 'an answer' }) },
  fc.constantFrom<ScriptedReply[]>(
    {},
    { text: 'half', finishReason: 'length' },
    { ...calls(call('quick'), call('gated')), finishReason: 'length' },
    { ...calls(call('quick')), finishReason: 'content-filter' },
    { finishReason: 'content-filter' },
    { refusal: 'no' },
  ),
);
const answer = fc.oneof(
  { weight: 9, arbitrary: reply },
  fc.constantFrom('passing' as const, 'final' as const, 'hanging' as const),
);

const at = fc.nat(3);
const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), hops: fc.nat(40) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('breathe' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(10, 60, 600, 2000, 90_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('approve' as const),
      at,
      remember: fc.constantFrom(undefined, 'tool' as const, 'input' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      at,
      input: fc.constantFrom({ n: 1 }, 'no object', { n: 2 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reject' as const), at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('respond' as const), at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      mode: fc.constantFrom('queue' as const, 'steer' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('retry' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('restore' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('read' as const) }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

const plan = fc.record({
  answers: fc.array(fc.record({ answer, hops: fc.nat(12) }), { maxLength: 12 }),
  commands: fc.array(command, { minLength: 4, maxLength: 30 }),
  concurrency: fc.constantFrom(1, 2, 8),
  hold: fc.constantFrom('all' as const, 'gated' as const),
  onMessage: fc.constantFrom('queue' as const, 'supersede' as const, 'refuse' as const),
  expireAfter: fc.constantFrom(undefined, 1000),
  onLimit: fc.constantFrom('finalize' as const, 'pause' as const, 'fail' as const),
  maxIterations: fc.integer({ min: 1, max: 4 }),
  maxConsecutiveErrors: fc.nat(2),
  autopilot: fc.constantFrom(true, true, true, false),
  stopOnUnknownTool: fc.boolean(),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

/** Gives the plan's answers, each after some hops, then the same text for ever. `wrong` hears what a strict provider would refuse. */
const plannedModel = ({ answers }: Plan, wrong: string[]): ChatModel => {
  let next = 0;
  const ask = async ({ messages }: ModelRequest, signal: AbortSignal): Promise<ModelReply> => {
    wrong.push(...strictRefusals(messages));
    const step = answers[next];
    next += 1;
    await hops(step?.hops ?? 0);
    const said = step?.answer ?? { text: 'the end' };
    if (said === 'passing') throw new ModelError('model-request-failed', 'busy', { transient: true });
    if (said === 'final') throw new ModelError('model-request-failed', 'bad key', { transient: false });
    if (said === 'hanging') return untilAborted(signal);
    return scriptedModel([said]).generate({ messages: [] }, { signal });
  };
  return {
    name: 'planned',
    generate: (request, { signal }) => ask(request, signal),
    stream: async function* (request, { signal }) {
      yield { type: 'text-delta', text: 'partial' };
      yield { type: 'finish', reply: await ask(request, signal) };
    },
  };
};

const ignore = (promise: Promise<unknown>): void => {
  promise.catch(() => undefined);
};

const readAll = async (session: Session): Promise<void> => {
  for await (const _ of session.events());
};

const isOpen = (session: Session): boolean => (session.actor.getSnapshot().context.round?.calls.length ?? 0) > 0;

/** Whatever the session is in the middle of, it can be brought to rest. */
const driveToRest = async (session: Session, clock: ManualClock): Promise<void> => {
  for (let times = 0; times < 300; times += 1) {
    await breath();
    if (session.status === 'idle' || session.status === 'settled') return;
    for (const { callId, needs } of session.pending) {
      ignore(needs === 'approval' ? session.approve(callId) : session.respond(callId, 'by hand'));
    }
    clock.advance(60_000);
    if (times % 10 === 9 && session.status === 'busy') {
      const running = session.actor.getSnapshot().context.round?.calls ?? [];
      for (const { callId } of running) ignore(session.cancel(callId));
    }
    if (times % 40 === 39) ignore(session.stop());
  }
  throw new Error(`it does not come to rest: ${JSON.stringify(session.toJSON())}`);
};

const follow = async (given: Plan): Promise<void> => {
  const clock = manualClock();
  const wrong: string[] = [];
  const { concurrency, hold, onMessage, expireAfter, onLimit, maxIterations, maxConsecutiveErrors } = given;
  const agent = createAgent({
    model: plannedModel(given, wrong),
    tools,
    clock,
    concurrency,
    approvals: { hold, onMessage, ...(expireAfter === undefined ? {} : { expireAfter }) },
    limits: { onLimit, maxIterations, maxConsecutiveErrors },
    autopilot: given.autopilot,
    stopOnUnknownTool: given.stopOnUnknownTool,
    retry: { attempts: 2 },
  });
  const watch = (session: Session): void => {
    session.actor.subscribe({
      next: ({ context }) => {
        wrong.push(...violations(context.messages));
      },
      error: (error) => {
        wrong.push(String(error));
      },
    });
  };
  let session = await agent.open();
  watch(session);
  ignore(session.send('hello'));

  const obey = async (order: Command): Promise<void> => {
    const open = session.actor.getSnapshot().context.round?.calls ?? [];
    const callId = 'at' in order ? (open[order.at]?.callId ?? 'call_9_9') : '';
    switch (order.do) {
      case 'wait':
        return hops(order.hops);
      case 'breathe':
        return breath();
      case 'advance':
        return clock.advance(order.ms);
      case 'approve':
        return ignore(session.approve(callId, order.remember === undefined ? {} : { remember: order.remember }));
      case 'edit':
        return ignore(session.approve(callId, { input: order.input, remember: 'input' }));
      case 'reject':
        return ignore(session.reject(callId));
      case 'respond':
        return ignore(session.respond(callId, { by: 'hand' }));
      case 'cancel':
        return ignore(session.cancel(callId));
      case 'stop':
        return ignore(session.stop());
      case 'send':
        return ignore(session.send('more', { mode: order.mode }));
      case 'retry':
        return ignore(session.retry());
      case 'read':
        return ignore(readAll(session));
      case 'restore': {
        const text = JSON.stringify(session.toJSON());
        await session[Symbol.asyncDispose]();
        session = agent.restore(text);
        watch(session);
        return undefined;
      }
      default:
        return order satisfies never;
    }
  };
  for (const order of given.commands) await obey(order);

  await driveToRest(session, clock);
  const { context, children } = session.actor.getSnapshot();
  expect(wrong).toEqual([]);
  expect(violations(context.messages)).toEqual([]);
  expect(Object.keys(children)).toEqual(['wake']);
  if (context.turn.outcome?.type === 'tool-calls') {
    // Open by design: the next message settles them.
    expect(isOpen(session)).toBe(true);
    await session.send('never mind');
    await driveToRest(session, clock);
    expect(violations(session.messages)).toEqual([]);
  } else {
    expect(isOpen(session)).toBe(false);
  }
  // Whatever happened, the session takes another message and answers.
  const turns = session.actor.getSnapshot().context.turn.number;
  const fate = session.send('still there?');
  await driveToRest(session, clock);
  expect(session.actor.getSnapshot().context.turn.number).toBeGreaterThan(turns);
  await Promise.race([fate, breath()]);
  expect(wrong).toEqual([]);
  await session[Symbol.asyncDispose]();
  expect(clock.timers).toBe(0);
};

test('R6, R35, R38: whatever comes in whatever order, every snapshot is a whole history, a strict provider takes every request, and the session comes to rest', async () => {
  await fc.assert(fc.asyncProperty(plan, follow), { numRuns: Number(process.env['RUNS'] ?? 300) });
  await breath();
  expect(unhandled).toEqual([]);
}, 600_000);
