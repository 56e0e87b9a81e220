import { applied } from '../documents/change.ts';
import { type SessionDocument, documentFrom, machineVersion } from '../documents/document.ts';
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

/** Throws `invalid-document` for what no session wrote, `newer-document` for what a newer version wrote. */
export const readStored = (stored: StoredSession): Loaded => {
  const { revision, summary } = stored;
  const { sessionId, agent, createdAt } = summary;
  try {
    const { state, messages } = parsed(stored);
    const document = documentFrom({ agent, sessionId, createdAt, revision }, state, [...(state.messages ?? messages)]);
    const isOfNow = state.machineVersion === machineVersion;
    const [whole = '', ...changes] = stored.states;
    const lengths = { whole: whole.length, changes: changes.reduce((sum, { length }) => sum + length, 0) };
    return { document, committed: { revision, messages: messages.length, ...(isOfNow ? { state, lengths } : {}) } };
  } catch (error) {
    if (error instanceof AgentError) throw error;
    throw new AgentError(
      'invalid-document',
      `what the store has of session "${sessionId}" at revision ${revision} cannot be read: ${errorData(error).message}`,
      { cause: error },
    );
  }
};
