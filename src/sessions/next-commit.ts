import { difference } from '../documents/change.ts';
import { machineVersion } from '../documents/document.ts';
import type { StoredAgent } from '../documents/stored-agent.ts';
import { type Seen, isSameSeen, messagesOf, writeAgent } from '../documents/write-agent.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { pendingOf } from '../machines/round.ts';
import type { Message } from '../messages/message.ts';
import type { Commit, Refusal, SessionStatus, SessionSummary, Transition } from '../stores/store.ts';

/** What is committed beside the messages. */
export interface StoredState {
  machineVersion: number;
  agent: StoredAgent;
  /** Of a session whose history is kept elsewhere: its last turn, which the next one takes the place of. Absent: all messages are in the store. */
  messages?: readonly Message[];
}

/** What the store holds of a session. */
export interface Committed {
  revision: number;
  messages: number;
  /** Absent where it is written again from `seen`; without that too it is of an older version, and the next commit is a whole one. */
  state?: StoredState;
  /** What `state` was written from, where it was written here. */
  seen?: Seen;
  /** Somebody has committed it here. */
  isClaimed?: true;
  /** Characters of the last whole state, and of the changes since. */
  lengths?: { whole: number; changes: number };
}

/** Looked up where it is not known yet. */
export type CommittedSource = Committed | undefined | (() => Promise<Committed | undefined>);

/** A session as it is to be committed. */
export interface Moment extends Pick<SessionSummary, 'sessionId' | 'agent' | 'createdAt' | 'updatedAt'> {
  seen: Seen;
  status: SessionStatus;
  transitions: readonly Transition[];
  taken: readonly number[];
  refused: readonly Refusal[];
}

export interface NextCommit {
  commit: Commit;
  /** What the store holds when it has taken it. */
  after: Committed & { seen: Seen };
}

/** A whole state is written when the changes since the last one are this many times as long. */
const wholeEvery = 4;

const stateOf = (seen: Seen): StoredState => {
  const state: StoredState = { machineVersion, agent: writeAgent(seen) };
  if ((seen.context as AgentContext).elsewhere !== undefined) state.messages = messagesOf(seen);
  return state;
};

const stateBefore = ({ state, seen }: Committed): StoredState | undefined =>
  state ?? (seen === undefined ? undefined : stateOf(seen));

/** What is new since the last commit; undefined where nothing is, unless there must be one. */
export const nextCommit = (before: Committed | undefined, moment: Moment, mustBe: boolean): NextCommit | undefined => {
  const { seen, transitions, taken, refused } = moment;
  const isUntouched = before?.seen !== undefined && isSameSeen(before.seen, seen);
  if (isUntouched && taken.length + refused.length === 0 && !mustBe) return undefined;
  const isElsewhere = (seen.context as AgentContext).elsewhere !== undefined;
  const messages = isElsewhere ? [] : messagesOf(seen);
  const count = Math.max(before?.messages ?? 0, messages.length);
  const state = stateOf(seen);
  const known = before === undefined ? undefined : stateBefore(before);
  const change = known === undefined ? undefined : difference(known, state);
  const isNew =
    known === undefined ||
    change !== undefined ||
    messages.length > (before?.messages ?? 0) ||
    taken.length + refused.length > 0;
  if (!isNew && !mustBe) return undefined;
  const changeText = known === undefined ? undefined : JSON.stringify(change ?? {});
  const { whole, changes } = before?.lengths ?? { whole: 0, changes: 0 };
  const isWhole = changeText === undefined || whole * wholeEvery < changes + changeText.length;
  const text = isWhole ? JSON.stringify(state) : changeText;
  const revision = (before?.revision ?? 0) + 1;
  const pending = pendingOf(seen.context as AgentContext).length;
  return {
    commit: {
      summary: {
        sessionId: moment.sessionId,
        agent: moment.agent,
        machineVersion,
        status: moment.status,
        pending,
        messages: count,
        revision,
        createdAt: moment.createdAt,
        updatedAt: moment.updatedAt,
      },
      state: text,
      isWhole,
      messages: messages.slice(before?.messages ?? 0).map((message) => JSON.stringify(message)),
      transitions,
      taken,
      refused,
    },
    after: {
      seen,
      revision,
      messages: count,
      state,
      lengths: isWhole ? { whole: text.length, changes: 0 } : { whole, changes: changes + text.length },
    },
  };
};
