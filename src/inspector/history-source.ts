import type { OutsideEvent } from '../machines/agent-context.ts';
import type { ProtocolEvent } from './protocol.ts';

/** A session that is kept somewhere, whether a process has it open or not. */
export interface ListedSession {
  id: string;
  agent: string;
  /** ms since 1970, of its last change. */
  changedAt: number;
  /** Counts its changes. */
  revision: number;
  status: string;
  /** Calls that wait for somebody. */
  pending: number;
}

/** What happened in a session, as if it had been recorded. */
export interface StoredHistory {
  /** Names this list of events: one of another name has nothing in common with it. */
  run: string;
  /** Grows in place while the session goes on. */
  events: readonly ProtocolEvent[];
  /** The revision that holds what the event told, for each event. */
  revisions: readonly number[];
}

/** Where past sessions are found. Looking never opens one: nothing runs and nothing is claimed. */
export interface HistorySource {
  /** The newest first. `limit`: default 200. */
  list(options?: { limit?: number; offset?: number }): Promise<readonly ListedSession[]>;
  /** Up to now; undefined where there is no such session. Asked again it reads only what is new. */
  history(id: string): Promise<StoredHistory | undefined>;
}

/** What the inspector reads of a store. A `SessionStore` is one. */
export interface InspectedStore {
  list(options: { limit: number; offset: number }): Promise<
    readonly {
      sessionId: string;
      agent: string;
      status: string;
      pending: number;
      revision: number;
      createdAt: number;
      updatedAt: number;
    }[]
  >;
  read(id: string): Promise<
    | {
        summary: { agent: string; createdAt: number; revision: number };
        /** JSON texts, oldest first. */
        messages: readonly string[];
      }
    | undefined
  >;
  history(
    id: string,
    options: { after: number },
  ): Promise<readonly { revision: number; at: number; from: string; to: string; event: string }[]>;
  post(id: string, event: OutsideEvent): Promise<number>;
}
