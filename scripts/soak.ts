// Many sessions for many turns, with failures, approvals, stops and restarts, in a process that lets its memory be measured:
// `node --expose-gc scripts/soak.ts [--sessions 500] [--turns 20000] [--leak]`. Prints one line of JSON; its status is 1 where something
// is wrong. `--leak` holds on to what ends, to show that the measure notices.
import { parseArgs } from 'node:util';
import { z } from 'zod';
import {
  type Agent,
  type ChatModel,
  ModelError,
  type ModelReply,
  type Session,
  createAgent,
  memoryStore,
  tool,
} from '../src/index.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '500' },
    turns: { type: 'string', default: '20000' },
    leak: { type: 'boolean', default: false },
  },
});
const sessionsAtOnce = Number(values.sessions);
const turnsEach = 4;
const generations = Math.round(Number(values.turns) / (sessionsAtOnce * turnsEach));
/** In the first ones code is compiled and caches fill. */
const warmUp = Math.ceil(generations * 0.5);
/** What a turn may leave behind. A session of four turns that is held on to is some tens of thousands of bytes. */
const bytesPerTurnAllowed = 500;

const found = { rejections: 0, warnings: 0, unsettled: 0 };
process.on('unhandledRejection', (reason) => {
  found.rejections += 1;
  process.stderr.write(`unhandled: ${String(reason)}\n`);
});
process.on('warning', ({ name, message }) => {
  if (name === 'ExperimentalWarning') return;
  found.warnings += 1;
  process.stderr.write(`${name}: ${message}\n`);
});

/** Numbers in [0, 1) that are the same in every run. */
const createRandom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
};
const random = createRandom(1);
const oneOf = <T>(...list: readonly [T, ...T[]]): T => list[Math.floor(random() * list.length)] ?? list[0];
const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const inputSchema = z.looseObject({});
const tools = [
  tool({ name: 'quick', inputSchema, execute: () => 'x'.repeat(200) }),
  tool({ name: 'slow', inputSchema, execute: async () => breath() }),
  tool({ name: 'gated', inputSchema, needsApproval: true, execute: () => 'booked' }),
  tool({
    name: 'broken',
    inputSchema,
    retry: { attempts: 2, initialDelay: 1 },
    execute: () => {
      throw new Error('Oh no!');
    },
  }),
  tool({
    name: 'hanging',
    inputSchema,
    timeout: 5,
    execute: (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  }),
  tool({ name: 'outside', inputSchema }),
];
const names = ['quick', 'quick', 'slow', 'gated', 'gated', 'broken', 'hanging', 'outside', 'unknown'] as const;

const model: ChatModel = {
  name: 'soak',
  generate: async ({ messages }): Promise<ModelReply> => {
    if (random() < 0.3) await breath();
    if (random() < 0.05) throw new ModelError('model-request-failed', 'busy', { transient: random() < 0.8 });
    const isAnswer = messages.at(-1)?.role === 'tool' ? random() < 0.7 : random() < 0.2;
    const usage = { inputTokens: 10, outputTokens: 10 };
    if (isAnswer) return { message: { role: 'assistant', content: 'an answer' }, finishReason: 'stop', usage };
    const content = Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
      type: 'tool-call' as const,
      toolCallId: '',
      toolName: oneOf(...names),
      input: {},
    }));
    return { message: { role: 'assistant', content }, finishReason: 'tool-calls', usage };
  },
};

const store = memoryStore();
const agentOf = (): Agent =>
  createAgent({
    model,
    tools,
    store,
    stopGrace: 5,
    retry: { attempts: 2, initialDelay: 1 },
    limits: { maxIterations: 4, maxConsecutiveErrors: 2 },
  });

const ends: Record<string, number> = {};
const counts = { turns: 0, restarts: 0, decisions: 0, stops: 0, retries: 0 };
const held: unknown[] = [];

/** As another process would go on: from the store, or from the text of a document. */
const restarted = async (agent: Agent, session: Session): Promise<Session> => {
  counts.restarts += 1;
  const document = JSON.stringify(session);
  await session[Symbol.asyncDispose]();
  return random() < 0.5 ? agent.open(session.id) : agent.restore(document);
};

const decide = async (session: Session): Promise<void> => {
  const [call] = session.pending;
  if (call === undefined) return;
  counts.decisions += 1;
  const { callId, needs } = call;
  if (needs === 'result') await session.respond(callId, 'by hand');
  else if (random() < 0.6) await session.approve(callId, random() < 0.5 ? {} : { input: { edited: true } });
  else await session.reject(callId, { reason: 'not today' });
};

const turn = async (agent: Agent, given: Session): Promise<Session> => {
  let session = given;
  session.send('hello').catch(() => undefined);
  if (random() < 0.1) session.send('and more', { mode: 'steer' }).catch(() => undefined);
  for (;;) {
    if (random() < 0.1) await breath();
    if (random() < 0.1) session = await restarted(agent, session);
    if (random() < 0.05) {
      counts.stops += 1;
      await session.stop();
    }
    await session.settled().catch(() => undefined);
    if (session.status === 'waiting') {
      await decide(session);
      continue;
    }
    counts.turns += 1;
    const { type } = session.actor.getSnapshot().context.turn.outcome ?? { type: 'none' };
    ends[type] = (ends[type] ?? 0) + 1;
    if (type !== 'failed' || random() < 0.5) return session;
    counts.retries += 1;
    await session.retry();
  }
};

const life = async (agent: Agent): Promise<void> => {
  let session = await agent.open();
  for (let done = 0; done < turnsEach; done += 1) session = await turn(agent, session);
  if (session.status !== 'settled') found.unsettled += 1;
  if (values.leak) held.push(session.toJSON());
  await session[Symbol.asyncDispose]();
  await store.delete(session.id);
};

const heap = async (): Promise<number> => {
  if (globalThis.gc === undefined) throw new Error('start it with --expose-gc');
  // What finalizers free is garbage only after they ran.
  for (let times = 0; times < 3; times += 1) {
    globalThis.gc();
    await breath();
  }
  return process.memoryUsage().heapUsed;
};

/** Growth by least squares, in bytes per turn. */
const slope = (samples: readonly { turns: number; bytes: number }[]): number => {
  const mean = (of: (sample: { turns: number; bytes: number }) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [x, y] = [mean(({ turns }) => turns), mean(({ bytes }) => bytes)];
  const over = samples.reduce((sum, { turns, bytes }) => sum + (turns - x) * (bytes - y), 0);
  return over / samples.reduce((sum, { turns }) => sum + (turns - x) ** 2, 0);
};

const begun = Date.now();
const samples: { turns: number; bytes: number }[] = [];
for (let generation = 0; generation < generations; generation += 1) {
  const agent = agentOf();
  await Promise.all(Array.from({ length: sessionsAtOnce }, () => life(agent)));
  await agent.close();
  samples.push({ turns: counts.turns, bytes: await heap() });
}
const bytesPerTurn = Math.round(slope(samples.slice(warmUp)));
const heapMegabytes = samples.map(({ bytes }) => Number((bytes / 2 ** 20).toFixed(2)));
const isSound = bytesPerTurn <= bytesPerTurnAllowed && Object.values(found).every((count) => count === 0);
process.stdout.write(
  `${JSON.stringify({ sessionsAtOnce, ...counts, ends, ...found, bytesPerTurn, heapMegabytes, seconds: Math.round((Date.now() - begun) / 1000) })}\n`,
);
process.exitCode = isSound ? 0 : 1;
