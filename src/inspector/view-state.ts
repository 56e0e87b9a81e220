import type { Chart } from './chart.ts';
import { applyPatch } from './patch.ts';
import type { ActorStatus, AgentInfo, ErrorWords, EventOf, ProtocolEvent } from './protocol.ts';

/** One stay of an actor in a state directly below its chart's root. */
export interface Stay {
  state: string;
  at: number;
}

/** The transition that an actor took last. */
export interface TakenStep {
  seq: number;
  at: number;
  event: string;
  edges: string[];
  from: string[];
  to: string[];
}

export interface ActorView {
  key: string;
  id: string;
  parent: string | null;
  src: string;
  /** Key of its chart; null for what is no machine. */
  chart: string | null;
  status: ActorStatus;
  states: string[];
  context: unknown;
  startedAt: number;
  /** Absent while it works. */
  endedAt?: number;
  step?: TakenStep;
  /** The last one that led to other states. */
  move?: TakenStep;
  /** Its ways through its chart, the newest 64. */
  stays: Stay[];
  error?: ErrorWords;
  output?: unknown;
}

export interface Said {
  at: number;
  actor: string;
  what: string;
  data: unknown;
}

/** What a model or a tool has sent so far and no chart has taken yet. */
export interface Stream {
  kind: EventOf<'delta'>['kind'];
  callId?: string | undefined;
  tool?: string | undefined;
  index?: number | undefined;
  text: string;
}

export interface SessionView {
  id: string;
  agent?: string | undefined;
  root: string;
  startedAt: number;
  changedAt: number;
  /** Number of its newest event. */
  seq: number;
  actors: Record<string, ActorView>;
  streams: Stream[];
  /** The newest 50. */
  said: Said[];
}

/** All that is shown, as plain JSON: what the events so far came to. */
export interface ViewState {
  seq: number;
  at: number;
  charts: Record<string, Chart>;
  /** By the key of their chart. */
  agents: Record<string, AgentInfo>;
  sessions: Record<string, SessionView>;
  failures: { count: number; last?: { where: string; message: string } };
}

export const emptyView: ViewState = { seq: 0, at: 0, charts: {}, agents: {}, sessions: {}, failures: { count: 0 } };

const maxStays = 64;
const maxSaid = 50;
const maxStream = 20_000;

/** The view after one more event. Pure, and shares what did not change; an event of an unknown session or actor changes nothing. */
export const reduceView = (view: ViewState, event: ProtocolEvent): ViewState =>
  reduceInto(view, event, () => withOwnKeys(view.sessions));

export type Sessions = ViewState['sessions'];

/** A copy. Ids of sessions are data: `__proto__` is one. */
export const withOwnKeys = (sessions: Sessions): Sessions => Object.assign(Object.create(null) as Sessions, sessions);

/** The same, with a say in where the sessions of the next view are written. */
export const reduceInto = (view: ViewState, event: ProtocolEvent, sessions: () => Sessions): ViewState => {
  const { seq, at } = event;
  switch (event.type) {
    case 'chart':
      return { ...view, seq, at, charts: { ...view.charts, [event.key]: event.chart } };
    case 'agent':
      return { ...view, seq, at, agents: { ...view.agents, [event.agent.chart]: event.agent } };
    case 'failure': {
      const { where, message } = event;
      return { ...view, seq, at, failures: { count: view.failures.count + 1, last: { where, message } } };
    }
    case 'session':
      return withSession(view, event, begun(sessionOf(view, event.session), event), sessions());
    case 'actor':
    case 'step':
    case 'ignored':
    case 'snapshot':
    case 'delta':
    case 'said': {
      const session = sessionOf(view, event.session);
      return session === undefined
        ? { ...view, seq, at }
        : withSession(view, event, reduceSession(session, event), sessions());
    }
    default:
      // An event of a kind that a later version knows is not an error.
      event satisfies never;
      return { ...view, seq, at };
  }
};

/** Ids of sessions are data: `constructor` is one. */
export const sessionOf = ({ sessions }: ViewState, id: string | undefined): SessionView | undefined =>
  id !== undefined && Object.hasOwn(sessions, id) ? sessions[id] : undefined;

const withSession = (
  view: ViewState,
  { seq, at }: ProtocolEvent,
  session: SessionView,
  sessions: Sessions,
): ViewState => {
  sessions[session.id] = { ...session, seq, changedAt: at };
  return { ...view, seq, at, sessions };
};

/** A conversation that is opened again has new actors. */
const begun = (
  before: SessionView | undefined,
  { session, root, agent, seq, at }: EventOf<'session'>,
): SessionView => ({
  id: session,
  agent: agent ?? before?.agent,
  root,
  startedAt: before?.startedAt ?? at,
  changedAt: at,
  seq,
  actors: {},
  streams: [],
  said: before?.said ?? [],
});

const sorted = new WeakMap<Sessions, readonly SessionView[]>();

/** Sorted once for each list: it is asked for again and again. */
export const newestFirst = (sessions: Sessions): readonly SessionView[] => {
  let list = sorted.get(sessions);
  if (list === undefined) {
    list = Object.values(sessions).toSorted((a, b) => b.startedAt - a.startedAt);
    sorted.set(sessions, list);
  }
  return list;
};

type SessionEvent = EventOf<'actor' | 'step' | 'ignored' | 'snapshot' | 'delta' | 'said'>;

const reduceSession = (session: SessionView, event: SessionEvent): SessionView => {
  switch (event.type) {
    case 'actor':
      return { ...session, actors: addActor(session.actors, event) };
    case 'delta':
      return { ...session, streams: addDelta(session.streams, event) };
    case 'said': {
      const { at, actor, what, data } = event;
      return { ...session, said: [...session.said, { at, actor, what, data }].slice(-maxSaid) };
    }
    case 'ignored':
      return session;
    case 'step':
    case 'snapshot': {
      const actor = session.actors[event.actor];
      if (actor === undefined) return session;
      const next = event.type === 'step' ? takeStep(actor, event) : takeSnapshot(actor, event);
      const actors = { ...session.actors, [actor.key]: next };
      return {
        ...session,
        actors: event.type === 'snapshot' && event.gone !== undefined ? letGo(actors, event.gone, event.at) : actors,
        streams: afterStreams(session, next, event),
      };
    }
    default:
      return event satisfies never;
  }
};

const addActor = (actors: Record<string, ActorView>, event: EventOf<'actor'>): Record<string, ActorView> => {
  const { actor: key, id, parent, src, chart, states, context, at } = event;
  const next = { ...actors };
  // What ended stays in sight until its place is taken: a round's calls until the next round.
  const peers = Object.values(actors).filter((other) => other.parent === parent && other.src === src);
  if (peers.every(({ endedAt }) => endedAt !== undefined)) for (const peer of peers) removeWithChildren(next, peer.key);
  const first = stayOf(states);
  next[key] = {
    key,
    id,
    parent,
    src,
    chart,
    status: 'active',
    states,
    context,
    startedAt: at,
    stays: first === undefined ? [] : [{ state: first, at }],
  };
  return next;
};

const removeWithChildren = (actors: Record<string, ActorView>, key: string): void => {
  delete actors[key];
  for (const other of Object.values(actors)) if (other.parent === key) removeWithChildren(actors, other.key);
};

/** What is no machine has nothing to show when it is over. */
const letGo = (actors: Record<string, ActorView>, gone: readonly string[], at: number): Record<string, ActorView> => {
  for (const key of gone) {
    const actor = actors[key];
    if (actor === undefined) continue;
    if (actor.chart === null) delete actors[key];
    else {
      const status = actor.status === 'active' ? 'stopped' : actor.status;
      actors[key] = { ...actor, status, endedAt: actor.endedAt ?? at };
      const children = Object.values(actors).filter(({ parent }) => parent === key);
      letGo(
        actors,
        children.map((child) => child.key),
        at,
      );
    }
  }
  return actors;
};

/** `agent.thinking.asking` stays in `thinking`: ids are paths below the machine's own id. */
const stayOf = (states: readonly string[]): string | undefined => {
  const [first] = states;
  if (first === undefined) return undefined;
  return first.split('.')[1] ?? first;
};

const takeStep = (actor: ActorView, { seq, at, event, edges, states }: EventOf<'step'>): ActorView => {
  const state = stayOf(states);
  const isSame = state === undefined || actor.stays.at(-1)?.state === state;
  const step: TakenStep = { seq, at, event, edges, from: actor.states, to: states };
  const hasMoved = states.length !== actor.states.length || states.some((id, index) => id !== actor.states[index]);
  return {
    ...actor,
    states,
    step,
    ...(hasMoved ? { move: step } : {}),
    stays: isSame ? actor.stays : [...actor.stays, { state, at }].slice(-maxStays),
  };
};

const takeSnapshot = (actor: ActorView, { at, status, patch, output, error }: EventOf<'snapshot'>): ActorView => ({
  ...actor,
  status,
  ...(patch === undefined ? {} : { context: applyPatch(actor.context, patch) }),
  ...(status === 'active' || actor.endedAt !== undefined ? {} : { endedAt: at }),
  ...(output === undefined ? {} : { output }),
  ...(error === undefined ? {} : { error }),
});

const addDelta = (streams: readonly Stream[], event: EventOf<'delta'>): Stream[] => {
  const { kind, callId, tool, index, text } = event;
  const at = streams.findIndex((each) => each.kind === kind && each.callId === callId && each.index === index);
  const before = streams[at];
  // Progress replaces, text grows.
  const grown = kind === 'progress' ? text : ((before?.text ?? '') + text).slice(-maxStream);
  const stream: Stream = { kind, callId, tool, index, text: grown };
  return before === undefined ? [...streams, stream] : streams.with(at, stream);
};

/** A reply is whole when its actor is gone; a call's progress is over when its result is there: both then stand in the context. */
const afterStreams = ({ streams }: SessionView, actor: ActorView, event: EventOf<'step' | 'snapshot'>): Stream[] => {
  if (streams.length === 0 || event.type !== 'step') return streams;
  if (event.event.startsWith('xstate.done.actor.model')) return streams.filter(({ kind }) => kind === 'progress');
  if (event.event.startsWith('xstate.done.actor.tool')) return streams.filter(({ callId }) => callId !== actor.id);
  return streams;
};
