import type { AnyActorRef, AnyStateMachine } from 'xstate';
import { AgentError, isInstance } from '../errors.ts';
import { type Message } from '../messages/message.ts';
import { isPlainObject } from '../messages/json.ts';
import type { Trust } from './check-context.ts';
import { agentProblem } from './check-agent.ts';
import { partsProblem } from './check-stored.ts';
import { migrated } from './migrations.ts';
import { type AgentSnapshot, Misfit, readAgent } from './read-agent.ts';
import type { StoredAgent } from './stored-agent.ts';
import { type Seen, messagesOf, writeAgent } from './write-agent.ts';

/** Grows when what is stored changes in a way that old sessions need a migration for. */
export const machineVersion = 3;
export const format = 'agentchart/session';

/** A whole session as one JSON value: it can be stored, sent and restored by another process. */
export interface SessionDocument {
  format: typeof format;
  machineVersion: number;
  agent: string;
  sessionId: string;
  /** ms since 1970. */
  createdAt: number;
  /** The commit of a durable store on which the document stands. */
  revision?: number;
  messages: Message[];
  state: StoredAgent;
}

export interface About {
  agent: string;
  createdAt: number;
  revision?: number | undefined;
}

/** The session as it was seen, as a value of its own: plain JSON. */
export const writeDocument = (
  seen: Seen,
  sessionId: string,
  { agent, createdAt, revision }: About,
): SessionDocument => {
  const document: SessionDocument = {
    format,
    machineVersion,
    agent,
    sessionId,
    createdAt,
    ...(revision === undefined ? {} : { revision }),
    messages: messagesOf(seen),
    state: writeAgent(seen),
  };
  return JSON.parse(JSON.stringify(document)) as SessionDocument;
};

const invalid = (what: string): AgentError =>
  new AgentError(
    'invalid-document',
    `this is no whole session document: ${what}; give what session.toJSON() gave, as an object or as its JSON text`,
  );

/** A value has at most 500 levels; the rest is for the session around it, with agents inside agents. */
const maxLevels = 1_000;

/** Where an object has a key that could set a prototype when some code copies the data carelessly. Throws for what goes so deep that no code could walk it. */
const unsafePlace = (value: unknown, level = 0): string | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  if (level === maxLevels) throw invalid(`it has more than ${maxLevels} levels`);
  for (const key of Object.keys(value)) {
    if (key === '__proto__' && !Array.isArray(value)) return `.${key}`;
    const place = unsafePlace((value as Record<string, unknown>)[key], level + 1);
    if (place !== undefined) return `.${key}${place}`;
  }
  return undefined;
};

const checkSafe = (document: unknown): void => {
  const place = unsafePlace(document);
  if (place === undefined) return;
  throw new AgentError(
    'unsafe-document',
    `the session document has the key document${place}; remove it, no session writes it`,
  );
};

/** Of a `Date`, in ms since 1970. A database may give no larger number back. */
const lastTime = 8.64e15;

const parse = (given: unknown): unknown => {
  if (given === undefined || given === null || given === '')
    throw invalid(given === '' ? 'it is an empty text' : `it is ${given}`);
  try {
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    return JSON.parse(text ?? 'null');
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : 'not JSON');
  }
};

/**
 * Reads a document of this version or an older one, and gives a fresh copy of it. What is no document at all is an `AgentError`.
 * Whether an agent can go on from it is found out by `snapshotOf`.
 */
export const readDocument = (given: unknown): SessionDocument => {
  const document = parse(given);
  if (!isPlainObject(document)) throw invalid('it is not an object');
  checkSafe(document);
  if (document['format'] !== format) throw invalid(`its "format" is not "${format}"`);
  const { sessionId, messages, state, agent, createdAt, revision } = migrated(document, machineVersion, invalid);
  if (typeof sessionId !== 'string') throw invalid('its "sessionId" is not a text');
  if (!Array.isArray(messages)) throw invalid('its "messages" are not an array');
  if (!isPlainObject(state)) throw invalid('its "state" is not an object');
  if (typeof createdAt === 'number' && !(Math.abs(createdAt) <= lastTime))
    throw invalid('its "createdAt" is no time in ms since 1970');
  return {
    format,
    machineVersion,
    agent: typeof agent === 'string' ? agent : 'agent',
    sessionId,
    createdAt: typeof createdAt === 'number' ? createdAt : 0,
    ...(typeof revision === 'number' && Number.isSafeInteger(revision) && revision > 0 ? { revision } : {}),
    messages: messages as Message[],
    state: state as unknown as StoredAgent,
  };
};

/**
 * What XState restores the session from. Nothing is guessed: what does not fit is an `AgentError` that says what and where.
 *
 * What is checked is that an agent can go on from it, and that what a call would run with is what is shown to those who decide (R29).
 * Nothing is signed: who can write to where documents are kept can write whole ones of his own. A document is as trustworthy as that place.
 */
export const snapshotOf = (
  machine: AnyStateMachine,
  { sessionId, messages, state }: Pick<SessionDocument, 'sessionId' | 'messages' | 'state'>,
  trust: Trust = 'nothing',
): AgentSnapshot => {
  const parts = partsProblem({ messages, state }, trust);
  if (parts !== undefined) throw invalid(parts);
  const snapshot = read(machine, { sessionId, messages, state });
  const problem = agentProblem(snapshot, undefined, trust);
  if (problem !== undefined) throw invalid(problem);
  return snapshot;
};

const read = (
  machine: AnyStateMachine,
  { sessionId, messages, state }: Pick<SessionDocument, 'sessionId' | 'messages' | 'state'>,
): AgentSnapshot => {
  try {
    return readAgent(machine, state, { sessionId, messages });
  } catch (error) {
    if (isInstance(error, AgentError)) throw error;
    if (error instanceof Misfit) throw invalid(error.message);
    throw invalid(`its parts do not fit each other: ${error instanceof Error ? error.message : String(error)}`);
  }
};

/** XState tells of a snapshot that it cannot restore only by the status of what it makes of it. */
export const checkRestored = (actor: AnyActorRef): void => {
  const { status, error, children, context } = actor.getSnapshot() as {
    status: string;
    error?: unknown;
    children?: Record<string, AnyActorRef>;
    context?: { sessionId?: string };
  };
  if (status === 'error') {
    throw new AgentError(
      'incompatible-document',
      `session "${String(context?.sessionId)}" does not fit this agent: "${actor.id}" cannot be restored; open it with the version of the agent that wrote it`,
      { cause: error },
    );
  }
  for (const child of Object.values(children ?? {})) checkRestored(child);
};
