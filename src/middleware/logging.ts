import { type ErrorData, errorData, isInstance } from '../errors.ts';
import { quietly } from '../messages/quietly.ts';
import type { Usage } from '../messages/usage.ts';
import type { ModelCallOptions, ModelChunk, ModelReply, ModelRequest } from '../models/chat-model.ts';
import type { ModelMiddleware } from '../models/model-middleware.ts';
import type { AgentMiddleware } from '../sessions/agent-middleware.ts';
import { type Rules, checkGiven, either, has, isA, oneOf } from '../sessions/option-bounds.ts';
import { isAsyncIterable } from '../tools/last-value.ts';
import { toPlainJson } from '../tools/plain-json.ts';
import type { ToolMiddleware } from '../tools/tool-middleware.ts';
import { redactAll, redactSecrets } from './redact-secrets.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** One line of the log: what happened, to what, and how long it took. Fields that do not apply are absent. */
export interface LogEntry {
  level: LogLevel;
  event: `${'turn' | 'model' | 'tool'}-${'begin' | 'end' | 'failed'}`;
  agent?: string;
  sessionId?: string;
  callId?: string;
  model?: string;
  tool?: string;
  /** The turn goes on: see `TurnRun`. */
  isContinued?: boolean;
  attempt?: number;
  /** From the beginning to the end, in ms. */
  ms?: number;
  /** How the turn ended, or why the reply did. */
  outcome?: string;
  usage?: Usage;
  error?: ErrorData;
  /** What went in or came out; with `content: true` only. */
  content?: unknown;
}

/** A function that takes an entry, or what has one for each level: `console`, or a logger such as pino's. */
export type LogTarget = ((entry: LogEntry) => void) | Readonly<Record<LogLevel, (entry: LogEntry) => void>>;

export interface LoggingOptions {
  /** Default: the console. */
  to?: LogTarget;
  /** Entries below it are left out. Beginnings are `debug`, ends `info`, failed tools `warn`, failed turns and models `error`. Default `info`. */
  level?: LogLevel;
  /** Messages, arguments and results enter the log: default false. */
  content?: boolean;
  /** Every text of an entry goes through it. Default: `redactSecrets`. What stands under a name such as `password` is left out in any case. */
  redact?: (text: string) => string;
}

/** One for each level; use those that you want. */
export interface Logging {
  turn: AgentMiddleware;
  model: ModelMiddleware;
  tool: ToolMiddleware;
}

const ranks: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

const rules = {
  to: either(isA('function'), has('an object with debug, info, warn and error', 'debug', 'info', 'warn', 'error')),
  level: oneOf('debug', 'info', 'warn', 'error'),
  content: isA('boolean'),
  redact: isA('function'),
} satisfies Record<keyof LoggingOptions, Rules[string]>;

/**
 * Logs turns, model calls and tool runs as plain objects. What is stopped has failed then, whether it hears of it or not. A log that throws
 * disturbs nothing. Throws `invalid-option`.
 */
export const logging = (options: LoggingOptions = {}): Logging => {
  checkGiven(options, rules, 'logging');
  const { to = globalThis.console, level: least = 'info', content = false, redact = redactSecrets } = options;
  const write = ({ content: said, ...entry }: LogEntry): void => {
    if (ranks[entry.level] < ranks[least]) return;
    // A line of the log is worth less than the turn.
    quietly(() => {
      const safe = redactAll(toPlainJson(content ? { ...entry, content: said } : entry), redact) as LogEntry;
      return typeof to === 'function' ? to(safe) : to[entry.level](safe);
    });
  };
  /** Notes the beginning, and gives what notes the end. */
  const watch = (kind: 'turn' | 'model' | 'tool', about: Partial<LogEntry>, given: unknown, signal?: AbortSignal) => {
    const begun = performance.now();
    let isOver = false;
    const end = (entry: Pick<LogEntry, 'level' | 'event'> & Partial<LogEntry>): void => {
      if (isOver) return;
      isOver = true;
      signal?.removeEventListener('abort', stop);
      write({ ...about, ms: Math.round(performance.now() - begun), ...entry });
    };
    const fail = (error: unknown): void =>
      end({ level: kind === 'tool' ? 'warn' : 'error', event: `${kind}-failed`, error: errorData(error) });
    const stop = (): void => fail(signal?.reason);
    write({ ...about, level: 'debug', event: `${kind}-begin`, content: given });
    signal?.addEventListener('abort', stop, { once: true });
    return { end: (entry: Partial<LogEntry>): void => end({ level: 'info', event: `${kind}-end`, ...entry }), fail };
  };
  const watchModel = (model: string, { messages }: ModelRequest, { sessionId, signal }: ModelCallOptions) => {
    const watched = watch('model', sessionId === undefined ? { model } : { model, sessionId }, messages, signal);
    return {
      ...watched,
      end: ({ finishReason, usage, message }: ModelReply): void =>
        watched.end({ outcome: finishReason, content: message.content, ...(usage === undefined ? {} : { usage }) }),
    };
  };

  return {
    turn: (next) => async (turn) => {
      const { agent, sessionId, isContinued, messages } = turn;
      const watched = watch('turn', { agent, sessionId, isContinued }, messages);
      try {
        const result = await next(turn);
        const { outcome, usage, text } = result;
        watched.end({ outcome: outcome.type, usage, content: text });
        return result;
      } catch (error) {
        watched.fail(error);
        throw error;
      }
    },
    model: (next) => {
      const { stream } = next;
      const readStream = async function* (
        request: ModelRequest,
        options: ModelCallOptions,
        ask: NonNullable<typeof stream>,
      ): AsyncGenerator<ModelChunk, void, undefined> {
        const watched = watchModel(next.name, request, options);
        try {
          for await (const chunk of ask.call(next, request, options)) {
            if (chunk.type === 'finish') watched.end(chunk.reply);
            yield chunk;
          }
        } catch (error) {
          watched.fail(error);
          throw error;
        } finally {
          watched.fail(new Error('the stream ended before its reply was whole'));
        }
      };
      return {
        ...next,
        generate: async (request, options) => {
          const watched = watchModel(next.name, request, options);
          try {
            const reply = await next.generate(request, options);
            watched.end(reply);
            return reply;
          } catch (error) {
            watched.fail(error);
            throw error;
          }
        },
        ...(stream === undefined ? {} : { stream: (request, options) => readStream(request, options, stream) }),
      };
    },
    tool: (next) => async (run) => {
      const { sessionId, callId, attempt, signal } = run.ctx;
      const watched = watch('tool', { tool: run.tool.name, sessionId, callId, attempt }, run.input, signal);
      const settle = (value: unknown): void => {
        if (isInstance(value, Error)) watched.fail(value);
        else watched.end({ content: value });
      };
      /** A tool that gives values one by one runs until the last one. */
      const toTheLast = async function* (values: AsyncIterable<unknown>): AsyncGenerator<unknown, void, undefined> {
        let last: unknown;
        try {
          for await (const value of values) {
            last = value;
            yield value;
          }
        } catch (error) {
          watched.fail(error);
          throw error;
        } finally {
          settle(last);
        }
      };
      try {
        const value = await next(run);
        if (isAsyncIterable(value)) return toTheLast(value);
        settle(value);
        return value;
      } catch (error) {
        watched.fail(error);
        throw error;
      }
    },
  };
};
