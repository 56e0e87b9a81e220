import { z } from 'zod';
import {
  type ChatModel,
  type Message,
  type ModelReply,
  type SessionStore,
  createAgent,
  importSession,
  memoryStore,
  tool,
} from '../../src/index.ts';
import type { Contender } from '../harness/contender.ts';
import { type Task, createTask, question, toolDescription, toolName } from '../harness/task.ts';

const inputSchema = z.object({ id: z.number().int(), note: z.string() });

const replyOf = ({ text, calls = [] }: Task['replies'][number]): ModelReply => ({
  message: {
    role: 'assistant',
    content: [
      ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
      ...calls.map(({ id, input }) => ({ type: 'tool-call' as const, toolCallId: id, toolName, input })),
    ],
  },
  finishReason: calls.length > 0 ? 'tool-calls' : 'stop',
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
});

const modelOf = (task: Task, deltas: readonly string[] = []): ChatModel => {
  const replies = task.replies.map(replyOf);
  const next = (): ModelReply => replies[task.next()] ?? replyOf({});
  return {
    name: 'scripted',
    generate: async () => next(),
    stream: async function* () {
      const reply = next();
      for (const text of deltas) yield { type: 'text-delta', text };
      yield { type: 'finish', reply };
    },
  };
};

const agentOf = (task: Task, { store = memoryStore(), needsApproval = false, deltas = [] as readonly string[] } = {}) =>
  createAgent({
    model: modelOf(task, deltas),
    tools: [
      tool({
        name: toolName,
        description: toolDescription,
        inputSchema,
        needsApproval,
        execute: (input) => task.execute(input),
      }),
    ],
    limits: { maxIterations: 10_000 },
    concurrency: 64,
    store,
  });

/** Runs that wait for a decision on their one call. */
const pauseIn = (task: Task, store: SessionStore) => {
  const agent = agentOf(task, { store, needsApproval: true });
  return async () => {
    task.begin();
    const session = await agent.open();
    await session.send(question);
    const { outcome, pending } = await session.settled();
    if (outcome.type !== 'pending' || pending.length !== 1) throw new Error(`the run is ${outcome.type}`);
    return session;
  };
};

/** In memory, or in any other store. */
export const agentchart = (openStore: () => SessionStore = memoryStore): Contender => ({
  packages: ['agentchart', 'xstate'],
  prepare: (task) => {
    const store = openStore();
    const agent = agentOf(task, { store });
    return async () => {
      task.begin();
      const { text, sessionId } = await agent.run(question);
      task.check(text);
      await store.delete(sessionId);
    };
  },
  stream: (task, deltas) => {
    const store = openStore();
    const agent = agentOf(task, { store, deltas });
    return async () => {
      task.begin();
      const stream = agent.stream(question);
      let count = 0;
      for await (const event of stream) if (event.type === 'text-delta') count += 1;
      if (count !== deltas.length) throw new Error(`${count} deltas, not ${deltas.length}`);
      const { text, sessionId } = await stream.result;
      task.check(text);
      await store.delete(sessionId);
    };
  },
  pause: (task) => {
    const store = openStore();
    const pause = pauseIn(task, store);
    return async () => {
      const session = await pause();
      // What is kept in the store of this process is counted by nobody here: it is the same as a document elsewhere.
      await store.delete(session.id);
      return session;
    };
  },
  asleep: (task) => {
    const elsewhere = openStore();
    const pause = pauseIn(task, elsewhere);
    const pauseAndLeave = pauseIn(task, openStore());
    return {
      'as a document': async () => {
        const session = await pause();
        const json = JSON.stringify(session);
        await session[Symbol.asyncDispose]();
        await elsewhere.delete(session.id);
        return json;
      },
      'in a store': async () => {
        await (await pauseAndLeave())[Symbol.asyncDispose]();
      },
    };
  },
  resume: async (task) => {
    const agent = agentOf(task, { needsApproval: true });
    const first = await agent.open();
    task.begin();
    await first.send(question);
    let result = await first.settled();
    // Approves all but the last call: what is left is a run of some length that waits.
    for (let left = task.calls - 1; left > 0; left -= 1) {
      await first.approve(result.pending[0]?.callId ?? '');
      result = await first.settled();
    }
    const json = JSON.stringify(first);
    await first[Symbol.asyncDispose]();
    const wake = async (text: string) => {
      const session = agent.restore(text);
      if (session.pending.length !== 1) throw new Error('nothing waits');
      return session;
    };
    return {
      json,
      wake,
      finish: async (text) => {
        const session = await wake(text);
        await session.approve(session.pending[0]?.callId ?? '');
        const { outcome, text: answer } = await session.settled();
        if (outcome.type !== 'answered') throw new Error(`the run is ${outcome.type}`);
        task.check(answer);
      },
    };
  },
});

const empty: Task['replies'] = [{ text: 'x' }];

/** What is measured of sessions that are kept in a file. */
export const storedSessions = (openStore: () => SessionStore): Pick<Contender, 'long' | 'waiting'> => ({
  long: async (count) => {
    const store = openStore();
    const agent = () => agentOf(createTask({ replies: empty, execute: () => '' }), { store });
    const messages: Message[] = Array.from({ length: count }, (_, index) =>
      index % 2 === 0
        ? { role: 'user', content: `question ${index}` }
        : { role: 'assistant', content: [{ type: 'text', text: `answer ${index} `.repeat(15) }] },
    );
    const idle = await agentOf(createTask({ replies: empty, execute: () => '' })).open('long');
    await importSession(store, { ...idle.toJSON(), messages });
    return {
      open: async () => {
        const session = await agent().open('long');
        if (session.messages.length !== count) throw new Error('not all of it was opened');
      },
      read: async () => (await store.read('long'))?.messages.map((message) => JSON.parse(message) as unknown),
    };
  },
  waiting: (task) => {
    const store = openStore();
    const first = agentOf(task, { store, needsApproval: true });
    const later = agentOf(task, { store, needsApproval: true });
    return {
      begin: async (id) => {
        const { outcome } = await first.run(question, { session: id });
        if (outcome.type !== 'pending') throw new Error(`the run is ${outcome.type}`);
      },
      decide: async (id) => {
        const session = await later.open(id);
        await session.approve(session.pending[0]?.callId ?? '');
        const { outcome } = await session.settled();
        if (outcome.type !== 'answered') throw new Error(`the run is ${outcome.type}`);
        await session[Symbol.asyncDispose]();
      },
    };
  },
});

export const contender = agentchart();
