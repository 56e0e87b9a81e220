import type { TurnResult } from '../machines/turn-result.ts';
import type { Message } from '../messages/message.ts';
import type { Tool } from '../tools/tool.ts';

/** The turn that is about to begin. */
export interface BeginningTurn {
  sessionId: string;
  /** Counts from 1. */
  turn: number;
  /** The conversation so far, what the turn was asked at its end. */
  messages: readonly Message[];
  /** What the application gave to the turn. */
  context: unknown;
  /** Aborts when the turn is stopped meanwhile. */
  signal: AbortSignal;
}

/** What holds for one turn. */
export interface ProvidedContext {
  /** Sent after the agent's own instructions. */
  instructions?: string;
  /** A text is a user's message. Sent in front of what the turn was asked; with `store` behind it. */
  messages?: string | Message | readonly Message[];
  /** Each with `execute`, of a name that no other tool of the agent has. */
  tools?: readonly Tool[];
  /** The session keeps `messages`, as if they had been said. Default false: they are gone after the turn. */
  store?: boolean;
}

export interface EndedTurn {
  sessionId: string;
  turn: number;
  /** Also of a turn that failed, was stopped, or reached a limit: `result.outcome` says which. */
  result: TurnResult;
  context: unknown;
}

/**
 * Gives turns what their models are to know. One object serves all sessions of its agent at the same time: what it knows of one stands
 * under its `sessionId`.
 */
export interface ContextProvider {
  name: string;
  /**
   * Asked once before a turn's first model call, again where the turn is retried, and again after a restore if the turn still needs it.
   * What it throws fails the turn with `context-provider-error`.
   */
  beforeTurn?(turn: BeginningTurn): ProvidedContext | undefined | Promise<ProvidedContext | undefined>;
  /**
   * Told of every turn that is over, before the next one begins. What it throws is an `error` event, the turn stays as it is. The result of the
   * turn, the next turn and a close wait for it, without an end: what it waits for itself needs a limit of time.
   */
  afterTurn?(turn: EndedTurn): void | Promise<void>;
}

/** New messages for a history that is kept elsewhere. */
export interface NewMessages {
  sessionId: string;
  turn: number;
  /**
   * How many messages of the session were handed over before. After a crash between your write and ours the same position comes a second
   * time: write at it, not behind it.
   */
  position: number;
  messages: readonly Message[];
  context: unknown;
}

/** Keeps the conversations of an agent, so that a session holds just its last turn. */
export interface HistoryProvider {
  /** What was said in earlier turns, as `append` got it. Asked before each turn; what it throws fails the turn with `context-provider-error`. */
  load(turn: Omit<BeginningTurn, 'messages'>): readonly Message[] | Promise<readonly Message[]>;
  /**
   * Gets what is new after every turn, whatever its outcome. What it throws is an `error` event; the same messages come again after the next turn.
   * It is waited for as `afterTurn` of a context provider is.
   */
  append(messages: NewMessages): void | Promise<void>;
}
