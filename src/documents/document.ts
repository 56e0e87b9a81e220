import type { AnyActorRef, AnyStateMachine, AnyStateNode } from 'xstate';
import { AgentError, isInstance } from '../errors.ts';
import { type Message } from '../messages/message.ts';
import { isPlainObject } from '../messages/json.ts';
import type { Trust } from './check-context.ts';
import { agentProblem } from './check-snapshot.ts';
import { migrated } from './migrations.ts';
import { type AgentSnapshot, readAgent } from './read-agent.ts';
import type { StoredAgent } from './stored-agent.ts';
import { messagesOf, seeActor, writeAgent } from './write-agent.ts';

/** Grows when what is stored changes in a way that old sessions need a migration for. */
export const machineVersion = 2;
const format = 'agentchart/session';

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

/** The session as it is at this moment, as a value of its own: plain JSON. */
export const writeDocument = (
  actor: AnyActorRef,
  sessionId: string,
  { agent, createdAt, revision }: About,
): SessionDocument => {
  const seen = seeActor(actor);
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

/** Keys that could set a prototype when some code copies the data carelessly. */
const findUnsafeKey = (value: unknown, path: string): string | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) return `${path}.__proto__`;
  for (const [key, item] of Object.entries(value)) {
    const found = findUnsafeKey(item, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
};

const parse = (given: unknown): unknown => {
  try {
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    return JSON.parse(text ?? '');
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
  const unsafe = findUnsafeKey(document, 'document');
  if (unsafe !== undefined) {
    throw new AgentError(
      'unsafe-document',
      `the session document has the key ${unsafe}; remove it, no session writes it`,
    );
  }
  if (document['format'] !== format) throw invalid(`its "format" is not "${format}"`);
  const { sessionId, messages, state, agent, createdAt, revision } = migrated(document, machineVersion, invalid);
  if (typeof sessionId !== 'string') throw invalid('its "sessionId" is not a text');
  if (!Array.isArray(messages)) throw invalid('its "messages" are not an array');
  if (!isPlainObject(state)) throw invalid('its "state" is not an object');
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

/** A document from what a store has. */
export const documentFrom = (
  about: About & { sessionId: string },
  { machineVersion: version, agent: state }: { machineVersion: number; agent: StoredAgent },
  messages: Message[],
): SessionDocument => {
  const { revision, ...known } = about;
  const at = revision === undefined ? {} : { revision };
  const document = { format, machineVersion: version, ...known, ...at, messages, state } as const;
  return version === machineVersion ? document : readDocument(document);
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
  const missing = unknownStates(machine, state.state);
  if (missing.length > 0) {
    throw new AgentError(
      'incompatible-document',
      `session "${sessionId}" is in a state that does not exist here: ${missing.join(', ')}; open it with the version of the agent that wrote it`,
    );
  }
  const snapshot = read(machine, { sessionId, messages, state });
  const problem = agentProblem(snapshot, trust);
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
    throw invalid(`its parts do not fit each other: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const childrenOf = (stored: unknown): Record<string, unknown> =>
  isPlainObject(stored) && isPlainObject(stored['children']) ? stored['children'] : {};

/** What charts start themselves, beside what their states invoke. */
const isSpawned = (id: string, src: unknown, states: readonly string[]): boolean =>
  (src === 'toolCall' && states.some((state) => state === 'acting' || state === 'awaiting-approval')) ||
  (id === 'deadline' && src === 'alarm') ||
  (id === 'agent' && String(src).startsWith('agent:'));

/** A state whose actors are missing would wait for ever; one with others would hear what it did not ask for. */
const actorProblem = (stored: unknown, live: AnyActorRef, path: string): string | undefined => {
  const { _nodes: nodes, children: actors } = live.getSnapshot() as {
    _nodes?: AnyStateNode[];
    children?: Record<string, AnyActorRef>;
  };
  if (nodes === undefined) return undefined;
  const open = nodes.find((node) => node.type === 'compound' && !nodes.some(({ parent }) => parent === node));
  if (open !== undefined) return `"${path}.value" ends at "${open.key}", which has states of its own`;
  const children = childrenOf(stored);
  const sources = new Map(
    Object.entries(children).map(([id, child]) => [id, isPlainObject(child) ? child['src'] : '']),
  );
  for (const { id, src } of nodes.flatMap(({ invoke }) => invoke)) {
    if (sources.get(id) !== src) return `"${path}.children.${id}" is not the actor that its state has at work`;
    sources.delete(id);
  }
  const states = nodes.map(({ key }) => key);
  for (const [id, src] of sources)
    if (!isSpawned(id, src, states)) return `"${path}.children.${id}" has no place in its state`;
  for (const [id, child] of Object.entries(children)) {
    const actor = actors?.[id];
    const inside = isPlainObject(child) ? child['snapshot'] : undefined;
    const found = actor === undefined ? undefined : actorProblem(inside, actor, `${path}.children.${id}.snapshot`);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** XState drops silently what it does not know: a child of an unknown kind, a state that is gone. Here that is an error. */
export const checkRestored = (actor: AnyActorRef, snapshot: AgentSnapshot): void => {
  const { sessionId } = snapshot.context;
  const refuse = (what: string, cause?: unknown): never => {
    throw new AgentError(
      'incompatible-document',
      `session "${sessionId}" does not fit this agent: ${what}; open it with the version of the agent that wrote it`,
      cause === undefined ? undefined : { cause },
    );
  };
  const compare = (stored: unknown, live: AnyActorRef, what: string): void => {
    const restored = live.getSnapshot() as { status: string; error?: unknown; children?: Record<string, AnyActorRef> };
    if (restored.status === 'error') refuse(`${what} cannot be restored`, restored.error);
    const children = childrenOf(stored);
    for (const [id, child] of Object.entries(children)) {
      const found = Object.hasOwn(restored.children ?? {}, id) ? restored.children?.[id] : undefined;
      if (found === undefined) return refuse(`its child actor "${id}" is of a kind that does not exist here`);
      compare(isPlainObject(child) ? child['snapshot'] : undefined, found, `the state of its child actor "${id}"`);
    }
  };
  compare(snapshot, actor, 'its state');
  const unfit = actorProblem(snapshot, actor, 'snapshot');
  if (unfit !== undefined) throw invalid(unfit);
};

/** The states of a stored value that a machine does not have: `resolveState` would throw on them with less to say. */
const unknownStates = (machine: AnyStateMachine, value: unknown): string[] => {
  const missing: string[] = [];
  const walk = (states: Record<string, { states: unknown }>, part: unknown, path: string): void => {
    const entries = typeof part === 'string' ? [[part, undefined]] : Object.entries(isPlainObject(part) ? part : {});
    for (const [key, inner] of entries) {
      const state = Object.hasOwn(states, String(key)) ? states[String(key)] : undefined;
      if (state === undefined) missing.push(`${path}${String(key)}`);
      else if (inner !== undefined) walk(state.states as typeof states, inner, `${path}${String(key)}.`);
    }
  };
  walk(machine.root.states as Record<string, { states: unknown }>, value, '');
  return missing;
};
