import { type Context, type SpanContext, context, isSpanContextValid, trace } from '@opentelemetry/api';
import { type Usage, addUsage } from '../messages/usage.ts';
import type { Operation } from './operation.ts';
import { usageAttributes } from './usage-attributes.ts';

type Metadata = Readonly<Record<string, string>>;

/** The key under which a turn's first span is kept with it, in the form of W3C Trace Context. */
const key = 'traceparent';

/** The turn of an agent inside a call. No middleware stands around it: it is seen by what it does. */
interface InsideTurn {
  operation: Operation;
  /** Of its last request or run: when that ended, by `performance.now()`, and what it failed with. */
  last: { at?: number; error?: unknown };
  usage: Usage;
}

interface LiveTurn {
  sessionId: string | undefined;
  context: Context;
  /** Of the model calls inside the span so far. */
  usage: Usage;
  /** By their session ids, which begin with that of the session. */
  inside: Map<string, InsideTurn>;
}

/** The turns that are under way in this process. */
const live = new Map<string, LiveTurn>();

export const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): Metadata =>
  isSpanContextValid({ traceId, spanId, traceFlags })
    ? { [key]: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}` }
    : {};

/** The first span of a turn, from what is kept with it. */
export const firstSpanOf = (metadata: Metadata = {}): SpanContext | undefined => {
  const [, traceId = '', spanId = '', flags = ''] =
    /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})/.exec(metadata[key] ?? '') ?? [];
  const found = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(found) ? found : undefined;
};

/** Which turn is meant. A turn that some other process began without telemetry is known by its session alone. */
export interface TurnName {
  agent: string;
  sessionId: string | undefined;
  metadata: Metadata | undefined;
}

const nameOf = ({ agent, sessionId, metadata }: TurnName): string =>
  metadata?.[key] ?? JSON.stringify([agent, sessionId]);

/** Ends the turns of agents inside the calls of this session. */
const endInside = ({ inside }: LiveTurn, sessionId = ''): void => {
  for (const [id, { operation, last, usage }] of inside) {
    if (!id.startsWith(`${sessionId}/`)) continue;
    inside.delete(id);
    if (last.error === undefined) operation.succeed(usageAttributes(usage), last.at);
    else operation.fail(last.error, usageAttributes(usage), last.at);
  }
};

/** Until it is left, the calls of this turn are inside the span of `within`. Leaving gives what they spent. */
export const enterTurn = (turn: TurnName, within: Context): (() => Usage) => {
  const name = nameOf(turn);
  const entered: LiveTurn = { sessionId: turn.sessionId, context: within, usage: {}, inside: new Map() };
  live.set(name, entered);
  return () => {
    if (live.get(name) === entered) live.delete(name);
    endInside(entered, turn.sessionId);
    return entered.usage;
  };
};

/** What a model call of the turn spent. */
export const spendInTurn = (turn: TurnName, usage: Usage | undefined): void => {
  const found = live.get(nameOf(turn));
  if (found === undefined) return;
  found.usage = addUsage(found.usage, usage);
  for (const [id, inside] of found.inside) {
    if (id === turn.sessionId || turn.sessionId?.startsWith(`${id}/`) === true)
      inside.usage = addUsage(inside.usage, usage);
  }
};

/** A new request to a model means that the calls before it are settled, and with them the agents inside them. */
export const settleCalls = (turn: TurnName): void => {
  const found = live.get(nameOf(turn));
  if (found !== undefined) endInside(found, turn.sessionId);
};

/** Where a request or a run of a turn belongs, and who hears of its end. */
export interface Place {
  parent: Context;
  onEnd?: (error?: unknown) => void;
}

/**
 * The place of a call in its turn: the turn's span, whatever else happens to be active where the call is started. `beginInside` begins the
 * turn of an agent inside a call.
 */
export const placeInTurn = (turn: TurnName, beginInside: (parent: Context) => Operation): Place => {
  const found = live.get(nameOf(turn));
  const inside = found === undefined ? undefined : insideOf(found, turn, beginInside);
  const within = inside?.operation.context ?? found?.context;
  const span = within === undefined ? undefined : trace.getSpan(within);
  if (span !== undefined) {
    const onEnd = (error?: unknown): void => {
      if (inside !== undefined) inside.last = { at: performance.now(), error };
    };
    return { parent: trace.setSpan(context.active(), span), onEnd };
  }
  const first = firstSpanOf(turn.metadata);
  return { parent: first === undefined ? context.active() : trace.setSpanContext(context.active(), first) };
};

const insideOf = (
  { sessionId: root, context: within, inside }: LiveTurn,
  { sessionId = '' }: TurnName,
  begin: (parent: Context) => Operation,
): InsideTurn | undefined => {
  if (root === undefined || !sessionId.startsWith(`${root}/`)) return undefined;
  const known = inside.get(sessionId);
  if (known !== undefined) return known;
  // Of several agents inside each other the nearest one began last.
  const around = [...inside].findLast(([id]) => sessionId.startsWith(`${id}/`))?.[1].operation.context;
  const begun: InsideTurn = { operation: begin(around ?? within), last: {}, usage: {} };
  inside.set(sessionId, begun);
  return begun;
};
