import { applied } from '../documents/change.ts';
import { type About, type SessionDocument, machineVersion } from '../documents/document.ts';
import { documentFrom } from '../documents/document-from.ts';
import { AgentError, errorData } from '../errors.ts';
import type { Message } from '../messages/message.ts';
import type { StoredSession } from '../stores/store.ts';
import type { Committed, StoredState } from './next-commit.ts';

/** A session from a store, and what its journal goes on from. */
export interface Loaded {
  document: SessionDocument;
  committed: Committed;
}

const parsed = ({ states, messages }: StoredSession): { state: StoredState; messages: Message[] } => {
  const [whole = 'null', ...changes] = states;
  let state: unknown = JSON.parse(whole);
  for (const change of changes) state = applied(state, JSON.parse(change));
  return { state: state as StoredState, messages: messages.map((message) => JSON.parse(message) as Message) };
};

/** What is stored of a session, read as JSON. */
export interface Parsed {
  state: StoredState;
  messages: readonly Message[];
  /** Characters of the last whole state, and of the changes since. */
  lengths: { whole: number; changes: number };
}

/** Throws `newer-document` for what a newer version wrote. */
export const loadedFrom = (about: About & { sessionId: string; revision: number }, parsed: Parsed): Loaded => {
  const { state, messages, lengths } = parsed;
  const { revision } = about;
  const document = documentFrom(about, state, [...(state.messages ?? messages)]);
  const isOfNow = state.machineVersion === machineVersion;
  return { document, committed: { revision, messages: messages.length, ...(isOfNow ? { state, lengths } : {}) } };
};

/** Throws `invalid-document` for what no session wrote, `newer-document` for what a newer version wrote. */
export const readStored = (stored: StoredSession): Loaded => {
  const { revision, summary } = stored;
  const { sessionId, agent, createdAt } = summary;
  try {
    const [whole = '', ...changes] = stored.states;
    const lengths = { whole: whole.length, changes: changes.reduce((sum, { length }) => sum + length, 0) };
    return loadedFrom({ agent, sessionId, createdAt, revision }, { ...parsed(stored), lengths });
  } catch (error) {
    if (error instanceof AgentError) throw error;
    throw new AgentError(
      'invalid-document',
      `what the store has of session "${sessionId}" at revision ${revision} cannot be read: ${errorData(error).message}`,
      { cause: error },
    );
  }
};
