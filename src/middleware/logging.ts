import { type ErrorData, errorData, isInstance } from '../errors.ts';
import type { Usage } from '../messages/usage.ts';
import type { ModelCallOptions, ModelChunk, ModelReply, ModelRequest } from '../models/chat-model.ts';
import type { ModelMiddleware } from '../models/model-middleware.ts';
import type { AgentMiddleware } from '../sessions/agent-middleware.ts';
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

/** Logs turns, model calls and tool runs as plain objects. A log that throws disturbs nothing. */
export const logging = ({
  to = globalThis.console,
  level: least = 'info',
  content = false,
  redact = redactSecrets,
}: LoggingOptions = {}): Logging => {
  const write = ({ content: said, ...entry }: LogEntry): void => {
    if (ranks[entry.level] < ranks[least]) return;
    try {
      const plain: unknown = JSON.parse(JSON.stringify(content ? { ...entry, content: said } : entry));
      const safe = redactAll(plain, redact) as LogEntry;
      if (typeof to === 'function') to(safe);
      else to[entry.level](safe);
    } catch {
      // A line of the log is worth less than the turn.
    }
  };
  /** Notes the beginning, and gives what notes the end. */
  const watch = (kind: 'turn' | 'model' | 'tool', about: Partial<LogEntry>, given: unknown) => {
    const begun = performance.now();
    let isOver = false;
    const end = (entry: Pick<LogEntry, 'level' | 'event'> & Partial<LogEntry>): void => {
      if (isOver) return;
      isOver = true;
      write({ ...about, ms: Math.round(performance.now() - begun), ...entry });
    };
    write({ ...about, level: 'debug', event: `${kind}-begin`, content: given });
    return {
      end: (entry: Partial<LogEntry>): void => end({ level: 'info', event: `${kind}-end`, ...entry }),
      fail: (error: unknown): void =>
        end({ level: kind === 'tool' ? 'warn' : 'error', event: `${kind}-failed`, error: errorData(error) }),
    };
  };
  const watchModel = (model: string, { messages }: ModelRequest, { sessionId }: ModelCallOptions) => {
    const watched = watch('model', sessionId === undefined ? { model } : { model, sessionId }, messages);
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
      const { sessionId, callId, attempt } = run.ctx;
      const watched = watch('tool', { tool: run.tool.name, sessionId, callId, attempt }, run.input);
      try {
        const value = await next(run);
        if (isInstance(value, Error)) watched.fail(value);
        else watched.end({ content: value });
        return value;
      } catch (error) {
        watched.fail(error);
        throw error;
      }
    },
  };
};
