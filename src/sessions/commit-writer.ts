import { isSameSeen } from '../documents/write-agent.ts';
import { AgentError, errorData, isInstance } from '../errors.ts';
import { SessionConflictError } from '../stores/session-conflict.ts';
import type { Commit, StoredSession } from '../stores/store.ts';
import type { JournalOptions, News, Sight } from './journal.ts';
import { type Committed, type CommittedSource, type NextCommit, nextCommit } from './next-commit.ts';

/** Writes what is new in one session to its store. */
export interface CommitWriter {
  /** What the store has; undefined where it is not known. */
  known(): Committed | undefined;
  /** Writes nothing where nothing is new. Rejects with `session-conflict` or `store-error`, or what the store says of itself. */
  write(): Promise<void>;
  /** What `known` was given as, or has become: what a session goes on from that has slept. */
  kept(): CommittedSource;
  /** True where a commit has begun that will have all there is: it has yet to look, or nothing has happened since it did. */
  hasAll(): boolean;
}

export interface CommitWriterOptions extends JournalOptions {
  /** What the next commit is to have beside the state; it goes from here when it is written. */
  news: News;
  /** The state that is to be committed. */
  look(): Sight;
  isDetached(): boolean;
  /** Somebody wants one even where nothing is new. */
  mustClaim(): boolean;
}

/** Of a commit in which nothing has changed nobody can say whose it is: that counts as somebody else's. */
const isOurs = ({ state, isWhole, summary }: Commit, stored: StoredSession): boolean =>
  (isWhole || state !== '{}') && stored.states.at(-1) === state && stored.summary.updatedAt === summary.updatedAt;

export const createCommitWriter = (options: CommitWriterOptions): CommitWriter => {
  const { store, sessionId, agent, createdAt, news } = options;
  let known = options.committed;
  let isClaimed = typeof known === 'object' && known.isClaimed === true;
  let isYetToLook = false;
  /** The commit that the store is taking. */
  let underWay: NextCommit | undefined;
  /** A commit of which nobody knows whether the store has taken it. */
  let lost: NextCommit | undefined;
  let conflict: SessionConflictError | undefined;

  const keep = ({ commit, after }: NextCommit): void => {
    known = after;
    isClaimed = true;
    news.transitions.splice(0, commit.transitions.length);
    news.taken.splice(0, commit.taken.length);
    news.refused.splice(0, commit.refused.length);
  };
  /** A connection may break when the store has written already: to commit the same again would be a conflict with oneself. */
  const findLost = async (): Promise<void> => {
    const stored = await store.read(sessionId);
    if (lost !== undefined && stored?.revision === lost.after.revision && isOurs(lost.commit, stored)) keep(lost);
    lost = undefined;
  };

  const write = async (): Promise<void> => {
    // At the end of the tick all that an event caused is done, also in the calls: no commit shows a step half taken.
    isYetToLook = true;
    await Promise.resolve();
    // What is asked for from here on may be of a tick that is not at its end.
    isYetToLook = false;
    // Nothing is waited for that is there: a session at work comes here with each of its effects.
    if (lost !== undefined) await findLost();
    if (typeof known === 'function') known = await known();
    if (options.isDetached()) return;
    const { seen, status } = options.look();
    const moment = {
      sessionId,
      agent,
      createdAt,
      updatedAt: options.now(),
      seen,
      status,
      transitions: news.transitions.slice(),
      taken: news.taken.slice(),
      refused: news.refused.slice(),
    };
    const next = nextCommit(known, moment, options.mustClaim() && !isClaimed);
    if (next === undefined) return;
    lost = next;
    underWay = next;
    try {
      await store.commit(next.commit);
    } catch (error) {
      if (isInstance(error, SessionConflictError)) lost = undefined;
      throw error;
    } finally {
      underWay = undefined;
    }
    lost = undefined;
    keep(next);
  };

  return {
    known: () => (typeof known === 'object' ? known : undefined),
    // What the state was is written again from what was seen.
    kept: () => {
      if (typeof known !== 'object' || known.seen === undefined) return known;
      const { state: _state, ...kept } = known;
      return isClaimed ? { ...kept, isClaimed } : kept;
    },
    hasAll: () =>
      isYetToLook ||
      (underWay !== undefined &&
        underWay.commit.transitions.length === news.transitions.length &&
        underWay.commit.taken.length === news.taken.length &&
        underWay.commit.refused.length === news.refused.length &&
        isSameSeen(underWay.after.seen, options.look().seen)),
    write: async () => {
      if (conflict !== undefined) throw conflict;
      try {
        await write();
      } catch (error) {
        if (isInstance(error, SessionConflictError)) {
          conflict = error;
          options.onConflict(error);
        }
        if (isInstance(error, AgentError)) throw error;
        throw new AgentError(
          'store-error',
          `session "${sessionId}" could not be stored: ${errorData(error).message}; the store has it as it was before`,
          { cause: error },
        );
      }
    },
  };
};
