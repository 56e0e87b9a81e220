import { type SessionDocument, machineVersion, readDocument } from '../documents/document.ts';
import { readContext } from '../documents/read-context.ts';
import { contextProblem } from '../documents/check-context.ts';
import { partsProblem } from '../documents/check-stored.ts';
import { AgentError, errorData, isInstance } from '../errors.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { pendingOf } from '../machines/round.ts';
import { checkSessionId } from '../stores/session-id.ts';
import { SessionConflictError } from '../stores/session-conflict.ts';
import { storeError } from '../stores/store-error.ts';
import type { SessionStore } from '../stores/store.ts';
import { toldStore } from '../stores/told-store.ts';
import { storeObject } from './check-options.ts';
import { documentAt } from './load-stored.ts';
import { type Bound, checkGiven, checkOne, isA } from './option-bounds.ts';
import { statusOf } from './session-status.ts';

// One that is not there is `unknown-revision`.
const aNumber: Bound = { says: 'a number', holds: (value) => typeof value === 'number' };

/** What a document knows, without the agent that wrote it. Throws `invalid-document` for one that cannot be read. */
export const contextIn = ({ sessionId, messages, state }: SessionDocument): AgentContext => {
  const invalid = (what: string): AgentError =>
    new AgentError('invalid-document', `the document of session "${sessionId}" cannot be read: ${what}`);
  const parts = partsProblem({ messages, state }, 'nothing');
  if (parts !== undefined) throw invalid(parts);
  let context: AgentContext;
  try {
    context = readContext(state, { sessionId, messages });
  } catch (error) {
    throw isInstance(error, AgentError) ? error : invalid(errorData(error).message);
  }
  const problem = contextProblem(context, { context: 'state.context', messages: 'messages' }, 'nothing');
  if (problem !== undefined) throw invalid(problem);
  return context;
};

/**
 * A session of a store as a document, as it is or as it was at a revision; no agent is needed. Rejects with `unknown-session` or
 * `unknown-revision`.
 */
export const exportSession = async (
  store: SessionStore,
  sessionId: string,
  options: { at?: number } = {},
): Promise<SessionDocument> => {
  checkOne(store, storeObject, 'exportSession: the store');
  checkGiven(options, { at: aNumber }, 'exportSession');
  return documentAt(toldStore(store), sessionId, options.at);
};

/**
 * Puts a document into a store as a new session, under its own id or another one; gives the id. What it can go on from is found out by
 * the agent that opens it. Rejects with `invalid-document`, or with `session-exists` where the id is taken: nothing is written over.
 */
export const importSession = async (
  store: SessionStore,
  given: SessionDocument | string,
  options: { id?: string } = {},
): Promise<string> => {
  checkOne(store, storeObject, 'importSession: the store');
  checkGiven(options, { id: isA('string') }, 'importSession');
  const document = readDocument(given);
  const { id: sessionId = document.sessionId } = options;
  checkSessionId(sessionId);
  const context = contextIn({ ...document, sessionId });
  const taken = (): AgentError =>
    new AgentError('session-exists', `the store has a session "${sessionId}" already; import it under another id`);
  if ((await toldStore(store).read(sessionId)) !== undefined) throw taken();
  const { agent, createdAt, messages, state } = document;
  const commit = {
    summary: {
      sessionId,
      agent,
      machineVersion,
      status: statusOf(state.state),
      pending: pendingOf(context).length,
      messages: messages.length,
      revision: 1,
      createdAt,
      updatedAt: Date.now(),
    },
    state: JSON.stringify({ machineVersion, agent: state }),
    isWhole: true,
    messages: messages.map((message) => JSON.stringify(message)),
    transitions: [],
    taken: [],
    refused: [],
  };
  try {
    await store.commit(commit);
  } catch (error) {
    // Somebody else was faster.
    throw isInstance(error, SessionConflictError) ? taken() : storeError('the store', error);
  }
  return sessionId;
};
