import type { SessionStatus } from '../stores/store.ts';
import type { Place } from './known-sessions.ts';
import { type Log, emptyLog } from './log.ts';
import { type View, isResting } from './protocol.ts';

/** What an object reads and writes with every step; all else of a session is under keys of its own, and read where it is needed. */
export interface Head extends View {
  birth: string;
  commitId: string;
  log: Log;
  /** The model call of the session's own that is under way. */
  asking: string | null;
  waiters: Waiter[];
}

/** Somebody who is told when the session rests, or has changed. */
export interface Waiter {
  awakeable: string;
  until: 'rest' | 'change';
}

export const logOf = (head: Head | null): Log => head?.log ?? emptyLog;

export const placeOf = ({ birth, commitId, summary }: Head): Place => ({
  birth,
  commitId,
  revision: summary.revision,
});

export const isOver = ({ until }: Waiter, status: SessionStatus, isNews: boolean): boolean =>
  until === 'rest' ? isResting(status) : isNews;
