import type { AnyActorRef } from 'xstate';
import { AgentError, errorData, isInstance } from '../errors.ts';
import { seeActor } from '../documents/write-agent.ts';
import { SessionConflictError } from '../stores/session-conflict.ts';
import type { Commit, Refusal, SessionStatus, SessionHome, StoredSession, Transition } from '../stores/store.ts';
import { createCommitQueue } from './commit-queue.ts';
import { type Committed, type Moment, type NextCommit, nextCommit } from './next-commit.ts';

/** Writes one session to its store. */
export interface Journal {
  /** Of a durable store: the last commit; undefined before the first. */
  readonly revision: number | undefined;
  note(transition: Transition): void;
  /** Of a command that is carried out: the next commit takes it out of the inbox. */
  take(commandId: number): void;
  /** Of a command that is refused: the next commit takes it out of the inbox and keeps the reason. */
  refuse(refusal: Refusal): void;
  /** Commits what is new; nothing where nothing is. */
  commit(): Promise<void>;
  /** Commits also where nothing is new, once: whoever had the session before can write it no more (R39). */
  claim(): Promise<void>;
  /** Settles when what is there is committed: where the last commit failed it tries once more, and rejects where that fails too. */
  idle(): Promise<void>;
  /** The state that is there now is the last one that will be committed. */
  seal(): void;
  /** Nothing is committed any more: another session of this process has taken this one's place. */
  detach(): void;
}

export interface JournalOptions {
  store: SessionHome;
  actor: AnyActorRef;
  sessionId: string;
  agent: string;
  createdAt: number;
  now(): number;
  statusOf(): SessionStatus;
  /** What the store has; looked up where it is not known yet. */
  committed: Committed | undefined | (() => Promise<Committed | undefined>);
  /** The revision on which the document stands that the session was made from. */
  madeFrom: number | undefined;
  /** Of a commit that somebody else came before. */
  onConflict(error: SessionConflictError): void;
}

/** Of a commit in which nothing has changed nobody can say whose it is: that counts as somebody else's. */
const isOurs = ({ state, isWhole, summary }: Commit, stored: StoredSession): boolean =>
  (isWhole || state !== '{}') && stored.states.at(-1) === state && stored.summary.updatedAt === summary.updatedAt;

export const createJournal = (options: JournalOptions): Journal => {
  const { store, actor, sessionId, agent, createdAt } = options;
  let known = options.committed;
  let isClaimed = false;
  let isDetached = false;
  let mustClaim = false;
  let sealed: Pick<Moment, 'seen' | 'status'> | undefined;
  /** A commit of which nobody knows whether the store has taken it. */
  let lost: NextCommit | undefined;
  const transitions: Transition[] = [];
  const taken: number[] = [];
  const refused: Refusal[] = [];

  const look = (): Pick<Moment, 'seen' | 'status'> => sealed ?? { seen: seeActor(actor), status: options.statusOf() };
  const committedNow = async (): Promise<Committed | undefined> => {
    if (typeof known === 'function') known = await known();
    return known;
  };
  const keep = ({ commit, after }: NextCommit): void => {
    known = after;
    isClaimed = true;
    transitions.splice(0, commit.transitions.length);
    taken.splice(0, commit.taken.length);
    refused.splice(0, commit.refused.length);
  };
  /** A connection may break when the store has written already: to commit the same again would be a conflict with oneself. */
  const findLost = async (): Promise<void> => {
    if (lost === undefined) return;
    const stored = await store.read(sessionId);
    if (stored?.revision === lost.after.revision && isOurs(lost.commit, stored)) keep(lost);
    lost = undefined;
  };

  const write = async (): Promise<void> => {
    // At the end of the tick all that an event caused is done, also in the calls: no commit shows a step half taken.
    await Promise.resolve();
    await findLost();
    const before = await committedNow();
    if (isDetached) return;
    const about = { sessionId, agent, createdAt, updatedAt: options.now() };
    const news = { transitions: transitions.slice(), taken: taken.slice(), refused: refused.slice() };
    const moment = { ...look(), ...about, ...news };
    const next = nextCommit(before, moment, mustClaim && !isClaimed);
    if (next === undefined) return;
    lost = next;
    try {
      await store.commit(next.commit);
    } catch (error) {
      if (isInstance(error, SessionConflictError)) lost = undefined;
      throw error;
    }
    lost = undefined;
    keep(next);
  };

  let failure: AgentError | undefined;
  const queue = createCommitQueue(async () => {
    if (isInstance(failure, SessionConflictError)) throw failure;
    try {
      await write();
      failure = undefined;
    } catch (error) {
      failure = isInstance(error, AgentError)
        ? error
        : new AgentError(
            'store-error',
            `session "${sessionId}" could not be stored: ${errorData(error).message}; the store has it as it was before`,
            { cause: error },
          );
      if (isInstance(failure, SessionConflictError)) options.onConflict(failure);
      throw failure;
    }
  });

  return {
    get revision() {
      if (!store.durable) return undefined;
      return typeof known === 'object' ? known.revision : options.madeFrom;
    },
    note: (transition) => {
      transitions.push(transition);
    },
    take: (commandId) => {
      taken.push(commandId);
    },
    refuse: (refusal) => {
      refused.push(refusal);
    },
    commit: queue.commit,
    claim: () => {
      mustClaim = true;
      return queue.commit();
    },
    idle: async () => {
      await queue.idle().catch(() => undefined);
      // The disk may have space again.
      if (failure !== undefined) await queue.commit();
    },
    seal: () => {
      sealed = look();
    },
    detach: () => {
      isDetached = true;
    },
  };
};
