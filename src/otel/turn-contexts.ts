import { type Context, type SpanContext, context, isSpanContextValid, trace } from '@opentelemetry/api';

type Metadata = Readonly<Record<string, string>>;

/** The key under which a turn's first span is kept with it, in the form of W3C Trace Context. */
const key = 'traceparent';

/** The spans of the turns that are under way in this process. */
const live = new Map<string, Context>();

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

/** Until the function that it gives is called, the calls of this turn are inside the span of `within`. */
export const enterTurn = (turn: TurnName, within: Context): (() => void) => {
  const name = nameOf(turn);
  live.set(name, within);
  return () => {
    if (live.get(name) === within) live.delete(name);
  };
};

/** In what a call of the turn is: the turn's span, whatever else happens to be active where the call is started. */
export const contextOfTurn = (turn: TurnName): Context => {
  const found = live.get(nameOf(turn));
  const span = found === undefined ? undefined : trace.getSpan(found);
  if (span !== undefined) return trace.setSpan(context.active(), span);
  const first = firstSpanOf(turn.metadata);
  return first === undefined ? context.active() : trace.setSpanContext(context.active(), first);
};
