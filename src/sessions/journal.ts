import type { AnyActorRef } from 'xstate';
import { AgentError, errorData, isInstance } from '../errors.ts';
import { difference } from '../documents/change.ts';
import { machineVersion } from '../documents/document.ts';
import type { StoredAgent } from '../documents/stored-agent.ts';
import { type Seen, messagesOf, seeActor, writeAgent } from '../documents/write-agent.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { pendingOf } from '../machines/round.ts';
import type { Message } from '../messages/message.ts';
import { SessionConflictError } from '../stores/session-conflict.ts';
import type { SessionStatus, SessionStore, Transition } from '../stores/store.ts';
import { createCommitQueue } from './commit-queue.ts';

/** What is committed beside the messages. */
export interface StoredState {
  machineVersion: number;
  agent: StoredAgent;
}

/** What the store holds of a session. */
export interface Committed {
  revision: number;
  messages: number;
  /** Absent where it is of an older version: the next commit is a whole one. */
  state?: StoredState;
  /** Characters of the last whole state, and of the changes since. */
  lengths?: { whole: number; changes: number };
}

/** Writes one session to its store. */
export interface Journal {
  /** Of a durable store: the last commit; undefined before the first. */
  readonly revision: number | undefined;
  note(transition: Transition): void;
  /** Of a command that is carried out: the next commit takes it out of the inbox. */
  take(commandId: number): void;
  /** Commits what is new; nothing where nothing is. */
  commit(): Promise<void>;
  /** Commits also where nothing is new, once: whoever had the session before can write it no more (R39). */
  claim(): Promise<void>;
  /** Settles with the last commit under way. Rejects where that one failed. */
  idle(): Promise<void>;
  /** The state that is there now is the last one that will be committed. */
  seal(): void;
  /** Nothing is committed any more: another session of this process has taken this one's place. */
  detach(): void;
}

export interface JournalOptions {
  store: SessionStore;
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

/** A whole state is written when the changes since the last one are this many times as long. */
const wholeEvery = 4;

interface Moment {
  seen: Seen;
  status: SessionStatus;
}

export const createJournal = (options: JournalOptions): Journal => {
  const { store, actor, sessionId, agent, createdAt } = options;
  let known = options.committed;
  let isClaimed = false;
  let isDetached = false;
  let mustClaim = false;
  let sealed: Moment | undefined;
  const transitions: Transition[] = [];
  const taken: number[] = [];

  const look = (): Moment => sealed ?? { seen: seeActor(actor), status: options.statusOf() };
  const committedNow = async (): Promise<Committed | undefined> => {
    if (typeof known === 'function') known = await known();
    return known;
  };

  const write = async (): Promise<void> => {
    // At the end of the tick all that an event caused is done, also in the calls: no commit shows a step half taken.
    await Promise.resolve();
    const before = await committedNow();
    if (isDetached) return;
    const { seen, status } = look();
    const messages: readonly Message[] = messagesOf(seen);
    const state: StoredState = { machineVersion, agent: writeAgent(seen) };
    const change = difference(before?.state, state);
    const isNew = change !== undefined || messages.length > (before?.messages ?? 0) || taken.length > 0;
    if (!isNew && (isClaimed || !mustClaim)) return;
    const changeText = JSON.stringify(change ?? {});
    const { whole, changes } = before?.lengths ?? { whole: 0, changes: 0 };
    const isWhole = before?.state === undefined || whole * wholeEvery < changes + changeText.length;
    const text = isWhole ? JSON.stringify(state) : changeText;
    const revision = (before?.revision ?? 0) + 1;
    const count = { transitions: transitions.length, taken: taken.length };
    await store.commit({
      summary: {
        sessionId,
        agent,
        machineVersion,
        status,
        pending: pendingOf(seen.context as AgentContext).length,
        messages: messages.length,
        revision,
        createdAt,
        updatedAt: options.now(),
      },
      state: text,
      isWhole,
      messages: messages.slice(before?.messages ?? 0).map((message) => JSON.stringify(message)),
      transitions: transitions.slice(),
      taken: taken.slice(),
    });
    const lengths = isWhole ? { whole: text.length, changes: 0 } : { whole, changes: changes + text.length };
    known = { revision, messages: messages.length, state, lengths };
    isClaimed = true;
    transitions.splice(0, count.transitions);
    taken.splice(0, count.taken);
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
    commit: queue.commit,
    claim: () => {
      mustClaim = true;
      return queue.commit();
    },
    idle: async () => {
      await queue.idle();
      if (failure !== undefined) throw failure;
    },
    seal: () => {
      sealed = look();
    },
    detach: () => {
      isDetached = true;
    },
  };
};
