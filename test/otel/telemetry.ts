import { type Context, context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type SpanProcessor,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll } from 'vitest';

/** Spans and metrics of a test, as the real SDK exports them to memory. */
export const recorder = () => {
  const spans = new InMemorySpanExporter();
  const begun: string[] = [];
  const order: SpanProcessor = {
    onStart: (span) => void begun.push(span.spanContext().spanId),
    onEnd: () => undefined,
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [order, new SimpleSpanProcessor(spans)] });
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 2 ** 30 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  return {
    tracerProvider,
    meterProvider,
    tracer: tracerProvider.getTracer('test'),
    /** Those that ended, in the order of their beginnings. */
    spans: (): ReadableSpan[] =>
      spans
        .getFinishedSpans()
        .toSorted((a, b) => begun.indexOf(a.spanContext().spanId) - begun.indexOf(b.spanContext().spanId)),
    /** The data points of a metric: attributes, count and sum. */
    points: async (name: string) => {
      await reader.forceFlush();
      const found =
        metrics
          .getMetrics()
          .at(-1)
          ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
      return found
        .filter(({ descriptor }) => descriptor.name === name)
        .flatMap(({ dataPoints, descriptor }) =>
          dataPoints.map(({ attributes, value }) => ({
            unit: descriptor.unit,
            attributes,
            ...(value as { count: number; sum?: number; buckets: { boundaries: number[] } }),
          })),
        );
    },
  };
};

/** The tree of spans as indented lines; a span whose parent is not there stands at the left. */
export const treeOf = (spans: readonly ReadableSpan[]): string[] => {
  const under = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter(({ parentSpanContext }) => {
        const known = spans.some((span) => span.spanContext().spanId === parentSpanContext?.spanId);
        return (known ? parentSpanContext?.spanId : undefined) === parent;
      })
      .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...under(span.spanContext().spanId, depth + 1)]);
  return under(undefined, 0);
};

/** The context follows the asynchronous work, as it does in an application that has set up OpenTelemetry. */
export const withContextManager = (): void => {
  const manager = new AsyncLocalStorageContextManager();
  beforeAll(() => {
    context.setGlobalContextManager(manager.enable());
  });
  afterAll(() => {
    context.disable();
    propagation.disable();
  });
};

export const inSpan = <T>(span: ReturnType<typeof trace.getActiveSpan> & object, work: () => T): T =>
  context.with(trace.setSpan(context.active(), span) satisfies Context, work);
