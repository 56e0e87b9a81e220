import { type Context, type SpanContext, context, isSpanContextValid, trace } from '@opentelemetry/api';
import { type Usage, addUsage } from '../messages/usage.ts';

type Metadata = Readonly<Record<string, string>>;

/** The key under which a turn's first span is kept with it, in the form of W3C Trace Context. */
const key = 'traceparent';

interface LiveTurn {
  context: Context;
  /** Of the model calls inside the span so far. */
  usage: Usage;
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

/** Until it is left, the calls of this turn are inside the span of `within`. Leaving gives what they spent. */
export const enterTurn = (turn: TurnName, within: Context): (() => Usage) => {
  const name = nameOf(turn);
  const entered: LiveTurn = { context: within, usage: {} };
  live.set(name, entered);
  return () => {
    if (live.get(name) === entered) live.delete(name);
    return entered.usage;
  };
};

/** What a model call of the turn spent. */
export const spendInTurn = (turn: TurnName, usage: Usage | undefined): void => {
  const found = live.get(nameOf(turn));
  if (found !== undefined) found.usage = addUsage(found.usage, usage);
};

/** In what a call of the turn is: the turn's span, whatever else happens to be active where the call is started. */
export const contextOfTurn = (turn: TurnName): Context => {
  const found = live.get(nameOf(turn));
  const span = found === undefined ? undefined : trace.getSpan(found.context);
  if (span !== undefined) return trace.setSpan(context.active(), span);
  const first = firstSpanOf(turn.metadata);
  return first === undefined ? context.active() : trace.setSpanContext(context.active(), first);
};
