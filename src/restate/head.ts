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
  /** How many times a turn has come to its end. */
  ends?: number;
  /** An outcome waits for a version of the agent that can take the session up. */
  isStuck?: boolean;
}

/** Somebody who is told when the session rests, or has changed. */
export interface Waiter {
  awakeable: string;
  until: 'rest' | 'change';
  /** ms since 1970 from which on nobody waits any more. */
  expires: number;
}

/** With one more, and without those who have gone. Who comes now has come `before` ms before he expires. */
export const joinedBy = (waiters: readonly Waiter[], waiter: Waiter, before: number): Waiter[] => {
  const now = waiter.expires - before;
  return [...waiters.filter(({ expires }) => expires > now), waiter];
};

export const logOf = (head: Head | null): Log => head?.log ?? emptyLog;

export const placeOf = ({ birth, commitId, summary }: Head): Place => ({
  birth,
  commitId,
  revision: summary.revision,
});

export const isOver = ({ until }: Waiter, status: SessionStatus, isNews: boolean): boolean =>
  until === 'rest' ? isResting(status) : isNews;
