import type { AgentMachine } from '../machines/agent.ts';
import type { Limits, TurnOptions } from '../machines/turn.ts';
import type { Message } from '../messages/message.ts';
import type { ChatModel } from '../models/chat-model.ts';
import type { InputSchema } from '../tools/input-schema.ts';
import type { Tool } from '../tools/tool.ts';
import type { AgentEvent } from './agent-event.ts';
import type { AgentToolOptions } from './agent-tool.ts';
import type { SessionDocument } from '../documents/document.ts';
import type { Inspector, RunResult, Session } from './session.ts';

/** For one turn. */
export interface RunOptions extends TurnOptions {
  /** Goes on with this session: an id in the store, a live session, or a document. Default: a new one. */
  session?: string | Session | SessionDocument;
  /** Asked in this turn in place of the agent's own; not stored, so after a restart the agent's own goes on. */
  model?: ChatModel;
  /** Stops the turn when it aborts. */
  signal?: AbortSignal;
  /** For the tools of this turn; may hold live objects, is never stored. */
  context?: unknown;
  inspect?: Inspector;
}

export interface StreamOptions extends RunOptions {
  /** What becomes of the turn when the loop over its events is left early: it stops, or goes on unwatched. Default `stop`. */
  onLeave?: 'stop' | 'detach';
}

/** What may be given again when a session is opened: it is never stored. */
export interface OpenOptions {
  /** For the tools of the turns to come; may hold live objects. */
  context?: unknown;
  inspect?: Inspector;
}

/** How a session is opened from the store. */
export interface StoredOpenOptions extends OpenOptions {
  /** Only to look at: nothing runs, nothing is claimed, and what would change it throws `read-only`. */
  readOnly?: boolean;
  /** As it was at this revision of its history; read-only. */
  at?: number;
}

/**
 * The events of one turn, and what it came to. The events end when the result is saved.
 *
 * A reader with 256 unread events holds the model's stream up, for 5 s at most each time; beyond that the deltas that it has not read are
 * joined. Nothing is left out but progress values of a call that a newer one follows. Where nobody reads at all, nothing is held up.
 */
export interface RunStream<Output = unknown> extends AsyncIterable<AgentEvent> {
  readonly result: Promise<RunResult<Output>>;
}

export interface Agent<Output = unknown> extends AsyncDisposable {
  readonly name: string;
  /** An ordinary XState machine: `createActor(agent.machine, { input: { message } })` works as it is. */
  readonly machine: AgentMachine;
  /** As they were given, for whoever shows the agent. */
  readonly tools: readonly Tool[];
  readonly limits: Partial<Limits>;
  /**
   * Resolves when the turn rests or waits for somebody; rejects with `TurnError` where it failed. Where the session waits already, or comes to
   * wait before the message is read, the message stays in the queue and the result is `pending` with the calls that wait, none of them its
   * own: it has no messages and no usage yet. What it comes to is told by `session.settled()` after the decisions, or by `session.stream()`.
   */
  run(input: string | Message | readonly Message[], options?: RunOptions): Promise<RunResult<Output>>;
  /** As `run`, with events from the beginning on. Leaving the loop early stops the turn, unless `onLeave` is `detach`. */
  stream(input: string | Message | readonly Message[], options?: StreamOptions): RunStream<Output>;
  /**
   * The session of this id, from the store; a new one where there is none. The same object while it lives in this process.
   * Ids are data: any well-formed text without NUL, of 1 to 1,000 characters, is one. With `readOnly` or `at`, `unknown-session` and
   * `unknown-revision` where there is none.
   */
  open(id?: string, options?: StoredOpenOptions): Promise<Session<Output>>;
  /**
   * Takes no more work, saves its sessions and lets go of them. Another agent over the same store can open them again; where none was
   * given, nobody can, and their memory is free.
   */
  close(): Promise<void>;
  /** This agent as a tool of another one. What it waits for is listed and decided in the other's session. */
  asTool<S extends InputSchema>(options: AgentToolOptions<S>): Tool;
  /** A session from `session.toJSON()`, as an object or as JSON text; it goes on where it was. */
  restore(document: SessionDocument | string, options?: OpenOptions): Session<Output>;
}
