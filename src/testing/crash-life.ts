import { canonicalJson } from '../messages/json.ts';
import type { ChatModel, ModelChunk, ModelReply, ModelRequest } from '../models/chat-model.ts';
import type { ModelMiddleware } from '../models/model-middleware.ts';
import type { Commit, SessionStore } from '../stores/store.ts';
import type { ToolMiddleware } from '../tools/tool-middleware.ts';
import { type CrashEvent, marksIn, requestKey, safetyOf, withMark } from './crash-log.ts';
import type { CrashCounts, CrashPoint } from './crash-point.ts';

/** What the agent of a scenario is made with: `createAgent({ ...options, model, tools })`. The agents that are its tools get the middleware. */
export interface CrashOptions {
  store: SessionStore;
  /** Its place is next to the model: the last one of several. */
  modelMiddleware: readonly ModelMiddleware[];
  toolMiddleware: readonly ToolMiddleware[];
}

/** One process that has a session, from its start to its end or to its death. */
export interface CrashLife {
  options: CrashOptions;
  counts: CrashCounts;
  /** Settles when nothing that it began in the store is under way any more. */
  idle(): Promise<void>;
}

export interface LifeSource {
  store: SessionStore;
  /** Told apart in the marks of the replies. */
  name: string;
  log(event: CrashEvent): void;
  /** Called at every point; where the process dies there, it never settles, and `isDead` is true from then on. */
  reach(point: CrashPoint): Promise<void>;
  isDead(): boolean;
}

const never = new Promise<never>(() => undefined);

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** A life whose commits and effects go past `reach`. After its death nothing of it reaches the store, a model or a tool. */
export const createLife = ({ store, name, log, reach, isDead }: LifeSource): CrashLife => {
  const counts: CrashCounts = { commit: 0, 'model call': 0, 'tool run': 0 };
  const underWay = new Set<Promise<unknown>>();

  /** Before, the work, after. What the work throws comes after its point as well. */
  const step = async <T>(what: CrashPoint['what'], work: () => T | Promise<T>): Promise<T> => {
    if (isDead()) return never;
    counts[what] += 1;
    const number = counts[what];
    await reach({ when: 'before', what, number });
    if (isDead()) return never;
    try {
      return await work();
    } finally {
      await (isDead() ? never : reach({ when: 'after', what, number }));
    }
  };
  const living =
    <Given extends unknown[], T>(work: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      if (isDead()) return never;
      const doing = work(...given);
      underWay.add(doing);
      try {
        return await doing;
      } finally {
        underWay.delete(doing);
        if (isDead()) await never;
      }
    };

  const write = living(async (commit: Commit): Promise<void> => {
    await store.commit(commit);
    const texts = [commit.state, ...commit.messages];
    const { revision, pending } = commit.summary;
    const isUnknown = texts.some((text) => text.includes('"outcome-unknown"'));
    log({ type: 'commit', revision, pending, replies: texts.flatMap(marksIn), isUnknown });
  });

  let asked = 0;
  /** Each mark is one reply's alone, also where two models are asked at the same moment. */
  const ask = (request: ModelRequest): string => {
    asked += 1;
    const reply = `${name}-${asked}`;
    log({ type: 'asked', reply, request: requestKey(request) });
    return reply;
  };
  const askAlong = (model: ChatModel): ChatModel => {
    const generate = async (request: ModelRequest, options: { signal: AbortSignal }): Promise<ModelReply> =>
      step('model call', async () => {
        const mark = ask(request);
        return withMark(await model.generate(request, options), mark);
      });
    const stream = async function* (
      request: ModelRequest,
      options: { signal: AbortSignal },
    ): AsyncGenerator<ModelChunk> {
      const chunks: ModelChunk[] = await step('model call', async () => {
        const mark = ask(request);
        const read: ModelChunk[] = [];
        for await (const chunk of model.stream?.(request, options) ?? []) {
          read.push(chunk.type === 'finish' ? { ...chunk, reply: withMark(chunk.reply, mark) } : chunk);
        }
        return read;
      });
      yield* chunks;
    };
    const { canOutput, needsTools } = model;
    return {
      name: model.name,
      ...(canOutput === undefined ? {} : { canOutput }),
      ...(needsTools === undefined ? {} : { needsTools }),
      generate,
      ...(model.stream === undefined ? {} : { stream }),
    };
  };

  const runAlong: ToolMiddleware = (next) => (run) =>
    step('tool run', async () => {
      const { tool, input, ctx } = run;
      const { callId, idempotencyKey, attempt } = ctx;
      const safety = safetyOf(tool);
      log({ type: 'begun', tool: tool.name, callId, idempotencyKey, attempt, input: canonicalJson(input), safety });
      const value = await next(run);
      if (!isAsyncIterable(value)) return value;
      let last: unknown;
      for await (const shown of value) {
        ctx.progress(shown);
        last = shown;
      }
      return last;
    });

  return {
    counts,
    options: {
      store: {
        durable: store.durable,
        read: living((...given) => store.read(...given)),
        commit: (commit) => step('commit', () => write(commit)),
        history: living((...given) => store.history(...given)),
        list: living((...given) => store.list(...given)),
        delete: living((...given) => store.delete(...given)),
        deleteBefore: living((...given) => store.deleteBefore(...given)),
        post: living((...given) => store.post(...given)),
        inbox: living((...given) => store.inbox(...given)),
        refusals: living((...given) => store.refusals(...given)),
        ...(store.lastCommand === undefined ? {} : { lastCommand: living(async () => store.lastCommand?.()) }),
        ...(store.watch === undefined
          ? {}
          : {
              watch: (id: string, notify: () => void) =>
                store.watch?.(id, () => !isDead() && notify()) ?? (() => undefined),
            }),
        close: () => store.close(),
      },
      modelMiddleware: [askAlong],
      toolMiddleware: [runAlong],
    },
    idle: async () => {
      await Promise.allSettled(underWay);
    },
  };
};
