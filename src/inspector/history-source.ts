import type { OutsideEvent } from '../machines/agent-context.ts';
import type { ProtocolEvent } from './protocol.ts';

/** A session that is kept somewhere, whether a process has it open or not. */
export interface ListedSession {
  id: string;
  agent: string;
  /** ms since 1970, of its last change. */
  changedAt: number;
  status: string;
  /** Calls that wait for somebody. */
  pending: number;
}

/** Where past sessions are found. Looking never opens one: nothing runs and nothing is claimed. */
export interface HistorySource {
  /** The newest first. */
  list(): Promise<readonly ListedSession[]>;
  /** What happened in a session, as if it had been recorded; undefined where there is no such session. */
  events(id: string): Promise<readonly ProtocolEvent[] | undefined>;
  /** Leaves an event for whoever has the session open, or opens it next. */
  post(id: string, event: OutsideEvent): Promise<void>;
}

/** What the inspector reads of a store. A `SessionStore` is one. */
export interface InspectedStore {
  list(options: {
    limit: number;
  }): Promise<readonly { sessionId: string; agent: string; status: string; pending: number; updatedAt: number }[]>;
  read(id: string): Promise<
    | {
        summary: { agent: string; createdAt: number; revision: number };
        /** JSON texts, oldest first. */
        messages: readonly string[];
      }
    | undefined
  >;
  history(id: string): Promise<readonly { revision: number; at: number; from: string; to: string; event: string }[]>;
  post(id: string, event: OutsideEvent): Promise<number>;
}
