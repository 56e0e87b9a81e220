import type { ProtocolEvent } from './protocol.ts';

/** A session that is kept somewhere, whether a process has it open or not. */
export interface StoredSession {
  id: string;
  agent: string;
  /** ms since 1970, of its last change. */
  changedAt: number;
  /** The states that it rests in, as ids of its chart's nodes; absent where the place does not tell. */
  states?: readonly string[];
}

/** Where past sessions are found. Looking never opens one: nothing runs and nothing is claimed. */
export interface HistorySource {
  /** The newest first. */
  list(): Promise<readonly StoredSession[]>;
  /** What happened in a session, as if it had been recorded; undefined where there is no such session. */
  events(id: string): Promise<readonly ProtocolEvent[] | undefined>;
}
