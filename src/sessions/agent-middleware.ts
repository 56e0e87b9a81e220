import { AgentError } from '../errors.ts';
import type { TurnOptions } from '../machines/turn.ts';
import { isPlainObject } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import type { ChatModel } from '../models/chat-model.ts';
import type { RunResult } from './session.ts';

/** One turn, or one more stretch of a turn: from a message, or from where it went on, until it rests or waits for somebody. */
export interface TurnRun extends TurnOptions {
  /** The agent's name. */
  readonly agent: string;
  readonly sessionId: string;
  /** What the turn begins with. Empty where a turn goes on. */
  messages: readonly Message[];
  /**
   * The turn goes on, after a decision, a retry or a restore, here or in another process: it is under way already, and `next` gives what it
   * comes to. Options and messages that are changed then change nothing.
   */
  readonly isContinued: boolean;
  /** What the application gave to this turn; may hold live objects. */
  context?: unknown;
  /** Asked in this turn in place of the agent's own model. */
  model?: ChatModel;
  /** Aborts with the `signal` of `run` or `stream`, and when the reader of a stream leaves. */
  signal: AbortSignal;
  /** A result of the middleware's own, without a turn: the session hears nothing of it and stores nothing. */
  answer(text: string): RunResult;
}

export type RunTurn = (turn: TurnRun) => Promise<RunResult>;

/**
 * Stands around every turn that `run`, `stream` or `session.send` begins, and around every stretch of a turn that goes on: it takes what is
 * next and gives what stands in its place. It may change what goes in (`next({ ...turn, messages })`) and what comes out, answer itself
 * (`turn.answer(text)`), or call next again, which is a turn of its own in the session. What it throws is what the caller gets.
 */
export type AgentMiddleware = (next: RunTurn) => RunTurn;

/** What leads from a turn back to its session. It has no name, so that it survives `{ ...turn, messages }` and nothing else sets it. */
export const ticket = Symbol('turn');
export interface TicketedTurn extends TurnRun {
  [ticket]?: (turn: TurnRun) => Promise<RunResult>;
}

/** What the innermost middleware calls. */
export const innermost: RunTurn = (turn) => {
  const proceed = (turn as TicketedTurn | undefined)?.[ticket];
  if (proceed !== undefined) return proceed(turn);
  throw new AgentError(
    'invalid-option',
    'agentMiddleware: next needs the turn that was given, or { ...turn, messages }',
  );
};

const isResult = (value: unknown): value is RunResult =>
  isPlainObject(value) && isPlainObject(value['outcome']) && typeof value['text'] === 'string';

/** In list order, the first one outermost. Throws `invalid-option` where one gives no function, or a turn of it no result, with its place. */
export const wrapTurns = (middleware: readonly AgentMiddleware[], turn: RunTurn): RunTurn =>
  middleware.reduceRight<RunTurn>((next, wrap, index) => {
    const made: unknown = wrap(next);
    if (typeof made !== 'function') {
      throw new AgentError(
        'invalid-option',
        `createAgent: agentMiddleware[${index}] gave no function; return (turn) => next(turn)`,
      );
    }
    return async (given) => {
      const result: unknown = await (made as RunTurn)(given);
      if (isResult(result)) return result;
      throw new AgentError(
        'invalid-option',
        `agentMiddleware[${index}] gave no result; return what next(turn) gave, or turn.answer(text)`,
      );
    };
  }, turn);
