import type { OutsideEvent } from '../machines/agent-context.ts';

export type SessionStatus = 'idle' | 'busy' | 'waiting' | 'settled' | 'closed';

/** One step of a session's chart: state paths such as `thinking.asking`, and the event that caused it. */
export interface Transition {
  from: string;
  to: string;
  event: string;
}

/** What a store knows of a session without reading it. */
export interface SessionSummary {
  sessionId: string;
  /** The agent's name. */
  agent: string;
  /** Of the charts that wrote it. */
  machineVersion: number;
  status: SessionStatus;
  /** Calls that wait for somebody. */
  pending: number;
  /** Messages so far. */
  messages: number;
  /** Counts the commits, from 1. */
  revision: number;
  /** ms since 1970. */
  createdAt: number;
  /** ms since 1970, of the last commit. */
  updatedAt: number;
}

/**
 * What one commit adds to a session. `state` and `messages` are JSON texts that a store keeps as they are and never looks into.
 */
export interface Commit {
  /** As the session stands after this commit. `updatedAt` is the commit's time. */
  summary: SessionSummary;
  /** The state without the messages where `isWhole`; else how it differs from the state of the revision before. */
  state: string;
  isWhole: boolean;
  /** The messages that came, oldest first. */
  messages: readonly string[];
  /** What the chart did since the commit before, oldest first. */
  transitions: readonly Transition[];
  /** Ids of commands that are carried out with this commit: they leave the inbox with it. */
  taken: readonly number[];
  /** Commands that the session refused: they leave the inbox with this commit, and are kept with the reason. */
  refused: readonly Refusal[];
}

/** A command that was refused, and why. */
export interface Refusal {
  /** Of the command. */
  id: number;
  /** Of the error: `call-settled`, say. */
  code: string;
  message: string;
}

/** A session as it was read. */
export interface StoredSession {
  /** As it stands now, also where an older revision was read. */
  summary: SessionSummary;
  /** The revision that was read. */
  revision: number;
  /** The last whole state at or before the revision, then the differences up to it, in order. */
  states: string[];
  /** All messages up to the revision, in order. */
  messages: string[];
}

/** A transition with the commit that wrote it. */
export interface HistoryEntry extends Transition {
  revision: number;
  /** ms since 1970. */
  at: number;
}

/** An event for a session that lives elsewhere, such as a decision. Its owner takes it up, or whoever opens the session next. */
export interface Command {
  /** Given by the store; grows. */
  id: number;
  event: OutsideEvent;
  /** ms since 1970. */
  at: number;
}

/** A command that its session refused. */
export interface RefusedCommand extends Command, Refusal {
  /** ms since 1970: the time of the commit. */
  refusedAt: number;
}

/** Which sessions are listed: the newest change first. */
export interface ListOptions {
  status?: SessionStatus;
  agent?: string;
  /** Only sessions that were changed last before this time, in ms since 1970. */
  changedBefore?: number;
  /** Default 100. */
  limit?: number;
  /** How many to leave out. Default 0. */
  offset?: number;
}

/**
 * Where sessions are kept. Whoever writes one runs `storeContract` of `agentchart/testing` over it.
 *
 * - A commit is taken whole or not at all, also when the process is killed or the disk is full; then the session is as before.
 * - A commit is refused with `SessionConflictError` unless `summary.revision - 1` is the session's last revision (0: there is none),
 *   whichever process made that one. This is all that keeps two processes from writing one session.
 * - Nor is it taken where `summary.createdAt` is another than the session's: that one was deleted, and its id used again.
 * - Ids of sessions are data: any well-formed text without NUL, of 1 to 1,000 characters, each its own session ("A" is not "a").
 * - An id that is none, and a bound or time that is no number, rejects with `invalid-option` and changes nothing.
 * - What goes wrong otherwise rejects; the session's owner tells it as `store-error`.
 */
export interface SessionStore {
  /** True: every effect waits until the state that asks for it is committed. False: sessions are committed when they rest or wait. */
  readonly durable: boolean;
  /** The session, at its last revision or as it was at revision `at`; undefined where there is no such session or revision. */
  read(sessionId: string, options?: { at?: number }): Promise<StoredSession | undefined>;
  commit(commit: Commit): Promise<void>;
  /**
   * The session's transitions, oldest first; those after revision `after` (default 0), of at most `limit` revisions (default all). A revision
   * without transitions does not count.
   */
  history(sessionId: string, options?: { after?: number; limit?: number }): Promise<HistoryEntry[]>;
  list(options?: ListOptions): Promise<SessionSummary[]>;
  /** True where there was such a session. Its inbox, refusals and history go with it. */
  delete(sessionId: string): Promise<boolean>;
  /** Deletes the sessions that were changed last before this time (ms since 1970); how many. */
  deleteBefore(time: number): Promise<number>;
  /** Puts a command into the session's inbox; its id. Rejects with `unknown-session` where there is no such session. */
  post(sessionId: string, event: OutsideEvent): Promise<number>;
  /** The commands that no commit has taken or refused, oldest first. */
  inbox(sessionId: string): Promise<Command[]>;
  /** The commands that the session refused, by their ids; those after command `after` (default 0). They are kept as long as the session is. */
  refusals(sessionId: string, options?: { after?: number }): Promise<RefusedCommand[]>;
  /** The id of the command that was posted last, for whichever session; 0 before the first. Undefined or absent: that is not known. */
  lastCommand?(): Promise<number | undefined>;
  /** Calls `notify` soon after a command was posted for the session, by whichever process; gives what ends it. Absent: only openers look. */
  watch?(sessionId: string, notify: () => void): () => void;
  /** Lets go of files and connections. */
  close(): Promise<void>;
}

/** What one session needs of its store. */
export type SessionHome = Pick<SessionStore, 'durable' | 'read' | 'commit' | 'inbox' | 'watch'>;

/** What an agent itself needs of its store. */
export type SessionKeeper = SessionHome & Pick<SessionStore, 'delete'>;
