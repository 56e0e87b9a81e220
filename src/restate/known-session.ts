import { applied } from '../documents/change.ts';
import type { Message } from '../messages/message.ts';
import type { StoredState } from '../sessions/next-commit.ts';
import { type Loaded, loadedFrom } from '../sessions/read-stored.ts';
import type { SessionSummary } from '../stores/store.ts';
import { type Reading, type Since, nothingYet } from './protocol.ts';

/** A session as a worker has it in memory, to spare the reading of what it knows. */
export interface KnownSession {
  birth: string;
  commitId: string;
  summary: SessionSummary;
  state: StoredState;
  messages: readonly Message[];
  lengths: { whole: number; changes: number };
  /** Characters of its messages. */
  size: number;
}

export const sinceOf = (known: KnownSession | undefined): Since =>
  known === undefined ? nothingYet : { revision: known.summary.revision, messages: known.messages.length };

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

/** Brings what is known up to what was read since. Nothing of what was known before is changed. */
export const advanced = (known: KnownSession | undefined, reading: Reading): KnownSession => {
  const { states, isWhole, messages, birth, commitId, summary } = reading;
  const [first = 'null'] = states;
  const changes = isWhole ? states.slice(1) : states;
  let state: unknown = isWhole ? JSON.parse(first) : known?.state;
  for (const change of changes) state = applied(state, JSON.parse(change));
  const before = isWhole || known === undefined ? { whole: first.length, changes: 0 } : known.lengths;
  return {
    birth,
    commitId,
    summary,
    state: state as StoredState,
    messages: [...(known?.messages ?? []), ...messages.map((message) => JSON.parse(message) as Message)],
    lengths: { ...before, changes: before.changes + lengthOf(changes) },
    size: (known?.size ?? 0) + lengthOf(messages),
  };
};

/** What a session is made of that goes on from here. */
export const loaded = ({ summary, state, messages, lengths }: KnownSession): Loaded => {
  const { sessionId, agent, createdAt, revision } = summary;
  return loadedFrom({ sessionId, agent, createdAt, revision }, { state, messages, lengths });
};
