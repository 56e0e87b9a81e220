import type { Chart, ChartEdge } from './chart.ts';
import { callOf } from './actor-tree.ts';
import type { EventOf, ProtocolEvent } from './protocol.ts';
import { list, optionalText, record, text } from './read-plain.ts';
import { type ActorView, type SessionView, type ViewState, sessionOf } from './view-state.ts';

/** One line of what happened, for a list, a slider or a terminal. */
export interface TimelineEntry {
  seq: number;
  at: number;
  session: string;
  actor: string;
  /** What people call the actor: a tool's name, or the machine's. */
  name: string;
  kind: 'step' | 'started' | 'settled' | 'error' | 'decision' | 'said' | 'ignored' | 'failure';
  /** Of a step: the states before and after, below the machine's own id. */
  from: string;
  to: string;
  /** What caused it, in words. */
  cause: string;
  guard: string | undefined;
  /** Of all but steps. */
  note: string;
}

const edgesOf = new WeakMap<Chart, Map<string, ChartEdge>>();

export const edgeOf = (chart: Chart | undefined, id: string | undefined): ChartEdge | undefined => {
  if (chart === undefined || id === undefined) return undefined;
  let edges = edgesOf.get(chart);
  if (edges === undefined) {
    edges = new Map(chart.edges.map((edge) => [edge.id, edge]));
    edgesOf.set(chart, edges);
  }
  return edges.get(id);
};

/** `agent.thinking.asking` is `thinking.asking` in its own chart. */
export const pathOf = (states: readonly string[]): string =>
  states.map((state) => state.slice(state.indexOf('.') + 1)).join(' & ');

const words: readonly [RegExp, string][] = [
  [/^xstate\.done\.actor\./, 'done: '],
  [/^xstate\.error\.actor\./, 'error: '],
  [/^xstate\.snapshot\./, 'snapshot: '],
  [/^xstate\.done\.state\./, 'done in '],
  [/^xstate\.after\./, 'after '],
];

const known = new Map<string, string>();
const maxKnown = 1_000;

/** An event as people call it. */
export const eventName = (type: string): string => {
  let name = known.get(type);
  if (name !== undefined) return name;
  const found = words.find(([pattern]) => pattern.test(type));
  name = found === undefined ? type : type.replace(...found);
  if (known.size < maxKnown) known.set(type, name);
  return name;
};

export const actorName = (actor: ActorView | undefined, session: SessionView): string => {
  if (actor === undefined) return '';
  const call = callOf(actor);
  if (call !== undefined) return call.tool;
  return actor.key === session.root ? (session.agent ?? actor.src) : actor.src;
};

/** The line of one event, with the view right after it; undefined for what is only a detail. */
export const entryOf = (view: ViewState, event: ProtocolEvent): TimelineEntry | undefined => {
  switch (event.type) {
    case 'failure':
      return { ...blank(event, '', ''), kind: 'failure', name: 'inspector', note: `${event.where}: ${event.message}` };
    case 'step':
    case 'ignored':
    case 'said':
    case 'actor':
    case 'snapshot': {
      // Most snapshots are details: there are as many of them as of steps.
      if (event.type === 'snapshot' && event.error === undefined && !settles(event)) return undefined;
      const session = sessionOf(view, event.session);
      const actor = session?.actors[event.actor];
      return session === undefined || actor === undefined ? undefined : entryIn(view, session, actor, event);
    }
    case 'chart':
    case 'agent':
    case 'session':
    case 'delta':
      return undefined;
    default:
      event satisfies never;
      return undefined;
  }
};

/** A call has got its result. */
const settles = ({ patch }: EventOf<'snapshot'>): boolean =>
  patch !== undefined && 'o' in patch && Object.hasOwn(patch.o, 'result');

const blank = ({ seq, at }: ProtocolEvent, session: string, actor: string) => ({
  seq,
  at,
  session,
  actor,
  from: '',
  to: '',
  cause: '',
  guard: undefined,
  note: '',
});

const entryIn = (
  view: ViewState,
  session: SessionView,
  actor: ActorView,
  event: EventOf<'step' | 'ignored' | 'said' | 'actor' | 'snapshot'>,
): TimelineEntry | undefined => {
  const base = { ...blank(event, session.id, actor.key), name: actorName(actor, session) };
  switch (event.type) {
    case 'step': {
      const chart = actor.chart === null ? undefined : view.charts[actor.chart];
      const edge = edgeOf(chart, event.edges[0]);
      return {
        ...base,
        kind: 'step',
        from: pathOf(actor.step?.from ?? []),
        to: pathOf(event.states),
        cause: edge?.event === '' ? 'always' : (edge?.label ?? eventName(event.event)),
        // A store does not say which one of several it was.
        guard: event.edges.length === 1 ? (edge?.guard ?? undefined) : undefined,
      };
    }
    case 'ignored':
      return { ...base, kind: 'ignored', cause: eventName(event.event), note: 'no state takes it' };
    case 'actor':
      return callOf(actor) === undefined ? undefined : { ...base, kind: 'started', to: pathOf(event.states) };
    case 'snapshot': {
      if (event.error !== undefined) return { ...base, kind: 'error', note: event.error.message };
      const call = callOf(actor);
      if (call?.status === undefined) return undefined;
      return { ...base, kind: 'settled', to: call.status, note: call.error ?? '' };
    }
    case 'said':
      return saidEntry(base, event);
    default:
      return event satisfies never;
  }
};

const saidEntry = (base: Omit<TimelineEntry, 'kind'>, { what, data }: EventOf<'said'>): TimelineEntry | undefined => {
  const { error, callId, decision, by, reason, tools, count, fate } = record(data);
  switch (what) {
    case 'error':
      return { ...base, kind: 'error', note: text(record(error)['message']) };
    case 'approval-response':
      return {
        ...base,
        kind: 'decision',
        note: [
          `${text(callId)} ${text(decision)}`,
          ...(optionalText(by) === undefined ? [] : [`by ${text(by)}`]),
          ...(optionalText(reason) === undefined ? [] : [text(reason)]),
        ].join(', '),
      };
    case 'loop-suspected':
      return {
        ...base,
        kind: 'said',
        note: `the same calls ${String(count)} times: ${list(tools).map(text).join(', ')}`,
      };
    case 'message-fate': {
      const { type, reason: why } = record(fate);
      return type === 'delivered'
        ? undefined
        : { ...base, kind: 'said', note: `a message was ${text(type)}: ${text(why)}` };
    }
    default:
      return undefined;
  }
};
