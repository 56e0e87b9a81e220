import { list, number, optionalText, record, text } from './read-plain.ts';
import type { ActorView, SessionView } from './view-state.ts';

/** A tool call as its actor shows it. */
export interface CallView {
  actor: string;
  callId: string;
  tool: string;
  index: number;
  phase: string;
  /** How it ended; absent while it is open. */
  status?: string | undefined;
  attempt: number;
  retryAt?: number | undefined;
  error?: string | undefined;
  by?: string | undefined;
  startedAt: number;
  endedAt?: number | undefined;
}

export interface TreeNode {
  actor: ActorView;
  call: CallView | undefined;
  children: TreeNode[];
}

/** A machine that has a history of messages is an agent, whatever its name. */
export const isAgent = ({ context }: ActorView): boolean => {
  const { messages, inbox, turn } = record(context);
  return Array.isArray(messages) && Array.isArray(inbox) && typeof turn === 'object';
};

export const callOf = (actor: ActorView): CallView | undefined => {
  const context = record(actor.context);
  const call = record(context['call']);
  if (typeof call['callId'] !== 'string' || typeof call['tool'] !== 'string') return undefined;
  const result = record(context['result']);
  const settled = actor.stays.find(({ state }) => state === 'settled');
  return {
    actor: actor.key,
    callId: call['callId'],
    tool: call['tool'],
    index: number(call['index']) ?? 0,
    phase: actor.states[0]?.split('.')[1] ?? text(context['phase']),
    status: optionalText(result['status']),
    attempt: number(context['attempt']) ?? 0,
    retryAt: number(context['retryAt']),
    error: optionalText(record(result['error'])['message']),
    by: optionalText(result['by']),
    startedAt: actor.startedAt,
    endedAt: settled?.at ?? actor.endedAt,
  };
};

/** Actors that only wait for a time, and the like: always there, never news. */
const isBackground = ({ src, chart }: ActorView): boolean => chart === null && (src === 'wake' || src === 'breath');

/** Of a call that waits for ever the alarm that would end its wait never rings. */
const neverRings = ({ src, id }: ActorView, parent: ActorView | undefined): boolean =>
  src === 'alarm' && id === 'expiry' && number(record(record(parent?.context)['waiting'])['expiresAt']) === undefined;

export const actorTree = (session: SessionView): TreeNode | undefined => {
  const children = new Map<string, ActorView[]>();
  for (const actor of Object.values(session.actors)) {
    if (actor.parent === null || isBackground(actor) || neverRings(actor, session.actors[actor.parent])) continue;
    const peers = children.get(actor.parent) ?? [];
    peers.push(actor);
    children.set(actor.parent, peers);
  }
  const nodeOf = (actor: ActorView): TreeNode => {
    const nodes = (children.get(actor.key) ?? []).map(nodeOf);
    return {
      actor,
      call: callOf(actor),
      children: nodes.toSorted((a, b) => (a.call?.index ?? -1) - (b.call?.index ?? -1)),
    };
  };
  const root = session.actors[session.root];
  return root === undefined ? undefined : nodeOf(root);
};

/** The agents of a session, the outermost first. */
export const agentsOf = (session: SessionView): ActorView[] => {
  const depthOf = (actor: ActorView): number => {
    const parent = actor.parent === null ? undefined : session.actors[actor.parent];
    return parent === undefined ? 0 : depthOf(parent) + 1;
  };
  return Object.values(session.actors)
    .filter(isAgent)
    .toSorted((a, b) => depthOf(a) - depthOf(b));
};

/** The calls of an agent's present round, in call order; after it those that were in it last. */
export const callsOfRound = (session: SessionView, agent: ActorView): CallView[] =>
  Object.values(session.actors)
    .filter(({ parent }) => parent === agent.key)
    .flatMap((actor) => callOf(actor) ?? [])
    .toSorted((a, b) => a.index - b.index);

/** What a chart calls the tags of its active states. */
export const tagsOf = (
  states: readonly string[],
  nodes: readonly { id: string; tags: string[]; parent: string | null }[],
) => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const tags = new Set<string>();
  for (const state of states)
    for (
      let node = byId.get(state);
      node !== undefined;
      node = node.parent === null ? undefined : byId.get(node.parent)
    )
      for (const tag of list(node.tags)) tags.add(text(tag));
  return [...tags];
};
