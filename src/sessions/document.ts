import type { AnyActorRef, AnyStateMachine, AnyStateNode } from 'xstate';
import { AgentError } from '../errors.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { isPlainObject } from '../messages/json.ts';
import { agentProblem } from './check-snapshot.ts';

/** Grows when the charts or their context change in a way that old documents need a migration for. */
export const machineVersion = 1;
const format = 'agentchart/session';

/** A whole session as one JSON value: it can be stored, sent and restored by another process. */
export interface SessionDocument {
  format: typeof format;
  machineVersion: number;
  agent: string;
  sessionId: string;
  /** ms since 1970. */
  createdAt: number;
  /** What XState persists of the agent and its calls. */
  snapshot: unknown;
}

interface About {
  agent: string;
  createdAt: number;
}

/** The document as it is at this moment. It aliases what the session holds: turn it into text at once, or take `writeDocument`. */
export const documentOf = (actor: AnyActorRef, { agent, createdAt }: About): SessionDocument => {
  const snapshot = actor.getPersistedSnapshot() as unknown as { context: { sessionId: string } };
  return { format, machineVersion, agent, sessionId: snapshot.context.sessionId, createdAt, snapshot };
};

/** The document as a value of its own, plain JSON. */
export const writeDocument = (actor: AnyActorRef, about: About): SessionDocument =>
  JSON.parse(JSON.stringify(documentOf(actor, about))) as SessionDocument;

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
 * Checks a document and gives a fresh copy of it. Nothing is guessed: what does not fit is an `AgentError` that says what and where.
 *
 * What is checked is that an agent can go on from it, and that what a call would run with is what is shown to those who decide (R29).
 * Nothing is signed: who can write to where documents are kept can write whole ones of his own. A document is as trustworthy as that place.
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
  const version = document['machineVersion'];
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    throw invalid('its "machineVersion" is not an integer ≥ 1');
  }
  if (version > machineVersion) {
    throw new AgentError(
      'newer-document',
      `the session was written by a newer version (machineVersion ${version}, this one reads up to ${machineVersion}); update agentchart here`,
    );
  }
  const { snapshot } = document;
  if (!isPlainObject(snapshot)) throw invalid('its "snapshot" is not an object');
  const problem = agentProblem(snapshot);
  if (problem !== undefined) throw invalid(problem);
  const { sessionId } = snapshot['context'] as AgentContext;
  return {
    format,
    machineVersion: version,
    agent: typeof document['agent'] === 'string' ? document['agent'] : 'agent',
    sessionId,
    createdAt: typeof document['createdAt'] === 'number' ? document['createdAt'] : 0,
    snapshot,
  };
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
export const checkRestored = (actor: AnyActorRef, { snapshot, sessionId }: SessionDocument): void => {
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
export const unknownStates = (machine: AnyStateMachine, snapshot: unknown): string[] => {
  const value = isPlainObject(snapshot) ? snapshot['value'] : undefined;
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
