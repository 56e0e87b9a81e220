import type { SessionDocument } from '../documents/document.ts';
import type { Fate } from '../machines/chart-event.ts';
import type { JsonValue } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import type { AgentEvent } from '../sessions/agent-event.ts';
import type { ApproveOptions, DecisionOptions, EventsOptions, RejectOptions, RunResult } from '../sessions/session.ts';
import type { SessionStatus } from '../stores/store.ts';
import type { PendingCall } from '../tools/call.ts';

/**
 * The same `id` again is the same command: it is carried out once, also when it comes again after a year. Of another command it is refused:
 * `invalid-option`.
 */
export interface CommandOptions {
  /** Default: a new one for every call. */
  id?: string;
}

/**
 * A session that lives in the engine: its methods do and promise what those of `Session` do in memory. What are properties there have to be asked for
 * here, and are methods. Nothing of it is held by this object: it can be made again anywhere.
 */
export interface RemoteSession {
  readonly id: string;
  /** Resolves with the message's fate, which for a queued one may be known only after days. */
  send(
    message: string | Message | readonly Message[],
    options?: CommandOptions & { mode?: 'queue' | 'steer' },
  ): Promise<Fate>;
  approve(callId: string, options?: ApproveOptions & CommandOptions): Promise<void>;
  reject(callId: string, options?: RejectOptions & CommandOptions): Promise<void>;
  respond(callId: string, output: JsonValue, options?: DecisionOptions & CommandOptions): Promise<void>;
  cancel(callId: string, options?: CommandOptions): Promise<void>;
  stop(reason?: string, options?: CommandOptions): Promise<void>;
  retry(options?: CommandOptions): Promise<void>;
  /**
   * The result when the turn rests or waits for somebody. Rejects where it failed, and with `incompatible-document` where the session stands still
   * because no version of its agent is served that can take it up; it goes on once one is, and `settled()` can be asked again then.
   */
  settled(): Promise<RunResult>;
  /**
   * Until the loop is left, which stops nothing. Workers that are not in `live`, or cannot be reached, tell nothing: what they did is told as the turn so
   * far, after another `joined`, when the session rests. Rejects where the engine says no more: `engine-error`, or `incompatible-document` as `settled()`.
   */
  events(options?: EventsOptions): AsyncIterable<AgentEvent>;
  /** The turn under way, or the last one: what it has come to so far, the first event `joined`, then what happens. It ends when the turn rests or waits. */
  stream(): AsyncIterable<AgentEvent>;
  status(): Promise<SessionStatus>;
  pending(): Promise<PendingCall[]>;
  messages(): Promise<readonly Message[]>;
  /** The whole session; `unknown-session` where nothing was ever sent to it. */
  toJSON(): Promise<SessionDocument>;
}
