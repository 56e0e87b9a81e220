import type { AnyActorRef } from 'xstate';
import { seeActor } from '../documents/write-agent.ts';
import type { SessionConflictError } from '../stores/session-conflict.ts';
import type { Refusal, SessionHome, SessionStatus, Transition } from '../stores/store.ts';
import { createCommitQueue } from './commit-queue.ts';
import { createCommitWriter } from './commit-writer.ts';
import type { CommittedSource, Moment } from './next-commit.ts';

/** Writes one session to its store. */
export interface Journal {
  /** Of a durable store: the last commit; undefined before the first. */
  revision(): number | undefined;
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
  /** Nothing is on its way to the store, or still to go there. */
  isAtRest(): boolean;
  /** What the store has, of a journal at rest: another one can be made from it. */
  kept(): CommittedSource;
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
  /** What the store has. */
  committed: CommittedSource;
  /** The revision on which the document stands that the session was made from. */
  madeFrom: number | undefined;
  /** Of a commit that somebody else came before. */
  onConflict(error: SessionConflictError): void;
}

/** The state of a session as it is to be committed. */
export type Sight = Pick<Moment, 'seen' | 'status'>;

/** What goes into the next commit beside the state. */
export interface News {
  transitions: Transition[];
  taken: number[];
  refused: Refusal[];
}

export const createJournal = (options: JournalOptions): Journal => {
  const { store, actor } = options;
  const news: News = { transitions: [], taken: [], refused: [] };
  let isDetached = false;
  let mustClaim = false;
  let hasFailed = false;
  let sealed: Sight | undefined;

  const look = (): Sight => sealed ?? { seen: seeActor(actor), status: options.statusOf() };
  const writer = createCommitWriter({
    ...options,
    news,
    look,
    isDetached: () => isDetached,
    mustClaim: () => mustClaim,
  });
  const queue = createCommitQueue(async () => {
    try {
      await writer.write();
      hasFailed = false;
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  }, writer.hasAll);

  return {
    revision: () => (store.durable ? (writer.known()?.revision ?? options.madeFrom) : undefined),
    note: (transition) => {
      news.transitions.push(transition);
    },
    take: (commandId) => {
      news.taken.push(commandId);
    },
    refuse: (refusal) => {
      news.refused.push(refusal);
    },
    commit: queue.commit,
    claim: () => {
      mustClaim = true;
      return queue.commit();
    },
    idle: async () => {
      await queue.idle().catch(() => undefined);
      // The disk may have space again.
      if (hasFailed) await queue.commit();
    },
    seal: () => {
      sealed = look();
    },
    isAtRest: () =>
      queue.isIdle() &&
      !hasFailed &&
      !isDetached &&
      news.transitions.length + news.taken.length + news.refused.length === 0,
    kept: writer.kept,
    detach: () => {
      isDetached = true;
    },
  };
};
