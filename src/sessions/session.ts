import type { ActorRefFrom, InspectionEvent, Observer } from 'xstate';
import type { AgentMachine } from '../machines/agent.ts';
import type { Fate } from '../machines/chart-event.ts';
import type { TurnResult } from '../machines/turn-result.ts';
import type { PendingCall } from '../tools/call.ts';
import type { JsonValue } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import type { RunStream } from './agent.ts';
import type { AgentEvent } from './agent-event.ts';
import type { SessionDocument } from '../documents/document.ts';
import type { SessionStatus } from '../stores/store.ts';

/** What `run` and `settled` give: the turn's result with the structured answer as its schema gives it. */
export interface RunResult<Output = unknown> extends Omit<TurnResult, 'output'> {
  /** With the agent's option `output`, where the turn came to an answer. */
  output?: Output;
}
export type { SessionStatus } from '../stores/store.ts';
export type Inspector = Observer<InspectionEvent> | ((event: InspectionEvent) => void);

/** What may come with a decision. `inputHash` is the pending call's: a decision from elsewhere should carry it. */
export interface DecisionOptions {
  by?: string;
  inputHash?: string;
}
export interface ApproveOptions extends DecisionOptions {
  /** Runs in place of what the model asked, after it is checked. */
  input?: JsonValue;
  remember?: 'tool' | 'input';
}
export interface RejectOptions extends DecisionOptions {
  /** The model reads it word for word. */
  reason?: string;
  remember?: 'tool' | 'input';
}

export interface ForkOptions {
  /** The revision to go on from. Default: as it is now. */
  at?: number;
  /** Of the new session. Default: a new one. */
  id?: string;
}

export interface EventsOptions {
  /** `turn`: first what the turn has come to so far, as `stream` tells it. Default `now`. */
  from?: 'now' | 'turn';
}

/** One conversation and the actor that runs it. Decisions throw `AgentError` where they do not apply, and then change nothing. */
export interface Session<Output = unknown> extends AsyncDisposable {
  readonly id: string;
  /** Asked for once, it stays as long as the session does: a session that waits for somebody lets it go otherwise, and makes it again. */
  readonly actor: ActorRefFrom<AgentMachine>;
  /** At every moment a history that a provider accepts. */
  readonly messages: readonly Message[];
  readonly pending: readonly PendingCall[];
  readonly status: SessionStatus;
  /**
   * Resolves with the message's fate: `delivered` when its turn begins or, with `steer`, when the turn under way reads it; with a durable
   * store when that is stored. Rejects where it cannot be, such as with `session-conflict`.
   */
  send(message: string | Message | readonly Message[], options?: { mode?: 'queue' | 'steer' }): Promise<Fate>;
  /** Rejects with `invalid-input` where the edited input does not fit; the call then still waits. */
  approve(callId: string, options?: ApproveOptions): Promise<void>;
  reject(callId: string, options?: RejectOptions): Promise<void>;
  /** The value is the call's result; its tool does not run. */
  respond(callId: string, output: JsonValue, options?: DecisionOptions): Promise<void>;
  cancel(callId: string): Promise<void>;
  /** Resolves when the session rests: at once, or when running tools gave up or their grace is over. */
  stop(reason?: string): Promise<void>;
  /** Goes on with a turn that failed, was stopped, refused or paused at a limit; else `nothing-to-retry`. */
  retry(): Promise<void>;
  /** The result when the turn rests or waits for somebody; rejects where it failed. */
  settled(): Promise<RunResult<Output>>;
  /**
   * Until the session closes. Leaving the loop stops nothing. First come the errors of commands from the store's inbox that were refused
   * while nobody read.
   */
  events(options?: EventsOptions): AsyncIterable<AgentEvent>;
  /**
   * The turn under way for one more reader: what it has come to so far as events, the first of them `joined`, then the live ones. It ends when
   * the turn rests or waits; leaving it stops nothing. Where the session rests already it tells its last turn, and before the first one waits
   * for that.
   */
  stream(): RunStream<Output>;
  /**
   * A new session that goes on from here, or from an older revision; stored at once, this one stays as it is. A call that was under way
   * then follows its tool's annotations, as after a crash. Rejects with `unknown-revision`.
   */
  fork(options?: ForkOptions): Promise<Session<Output>>;
  toJSON(): SessionDocument;
}
