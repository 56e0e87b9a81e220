import { type Attributes, type Histogram, type Tracer, metrics, trace } from '@opentelemetry/api';
import { quietly } from '../messages/quietly.ts';
import type { AgentOptions } from '../sessions/agent-options.ts';
import type { TelemetryOptions } from './with-telemetry.ts';

export interface Instruments {
  tracer(): Tracer;
  /** Never throws, nor does `duration`. */
  tokens(count: number, attributes: Attributes): void;
  /** s, by the name of the metric. */
  duration(metric: string, seconds: number, attributes: Attributes): void;
}

/** What the three kinds of spans know of their agent. */
export interface SpanSetup {
  agent: string;
  options: AgentOptions;
  telemetry: TelemetryOptions;
  instruments: Instruments;
}

const scope = 'agentchart';
const tokenBuckets = Array.from({ length: 14 }, (_, power) => 4 ** power);
const secondBuckets = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);

/** Asked for when they are first needed: an application may register its providers after it made its agents. */
export const createInstruments = ({ tracerProvider, meterProvider }: TelemetryOptions): Instruments => {
  const histograms = new Map<string, Histogram>();
  const histogram = (name: string, unit: string, description: string, buckets: number[]): Histogram => {
    const known = histograms.get(name);
    if (known !== undefined) return known;
    const meter = meterProvider?.getMeter(scope) ?? metrics.getMeter(scope);
    const made = meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: buckets } });
    histograms.set(name, made);
    return made;
  };
  return {
    tracer: () => tracerProvider?.getTracer(scope) ?? trace.getTracer(scope),
    tokens: (count, attributes) =>
      quietly(() => {
        const tokens = histogram('gen_ai.client.token.usage', '{token}', 'Input and output tokens used', tokenBuckets);
        tokens.record(count, attributes);
      }),
    duration: (metric, seconds, attributes) =>
      quietly(() => histogram(metric, 's', 'Duration of the operation', secondBuckets).record(seconds, attributes)),
  };
};
