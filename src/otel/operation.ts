import {
  type Attributes,
  type Context,
  INVALID_SPAN_CONTEXT,
  type Link,
  type Span,
  type SpanKind,
  SpanStatusCode,
  context,
  trace,
} from '@opentelemetry/api';
import { errorData, isInstance } from '../errors.ts';
import { quietly } from '../messages/quietly.ts';
import type { Instruments } from './instruments.ts';

export interface OperationOptions {
  name: string;
  kind: SpanKind;
  /** Known before it begins; samplers see them. */
  attributes: Attributes;
  /** The name of the metric, and which of the attributes it has too. */
  metric: string;
  metricAttributes: readonly string[];
  parent: Context;
  links?: Link[];
  /** Hears of the end, once, and of what it failed with. */
  onEnd?: (error?: unknown) => void;
}

/** A span and its duration. It ends once, however often it is told. */
export interface Operation {
  /** In which the work runs, so that spans of its own become children. */
  readonly context: Context;
  /** `at`: when it ended, where that was not just now; by `performance.now()`. */
  succeed(attributes?: Attributes, at?: number): void;
  fail(error: unknown, attributes?: Attributes, at?: number): void;
}

/** A class of errors, of which there are few: a status, a code, or a name. */
const typeOf = (error: unknown): string => {
  const { status, name } = errorData(error);
  // The numbers of `DOMException` are no codes that anybody knows.
  const code = isInstance(error, Error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return status === undefined ? (code ?? name) : String(status);
};

const nothing: Span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** A sampler or processor that throws costs the span, never the work that it tells of. */
export const beginOperation = (
  { tracer, duration }: Instruments,
  { name, kind, attributes, metric, metricAttributes, parent, links = [], onEnd }: OperationOptions,
): Operation => {
  const begun = performance.now();
  let span = nothing;
  quietly(() => {
    span = tracer().startSpan(name, { kind, attributes, links }, parent);
  });
  let isOver = false;
  const end = (more: Attributes, at?: number): void => {
    quietly(() => span.setAttributes(more));
    quietly(() => span.end(at));
    const all = { ...attributes, ...more };
    const measured = Object.fromEntries(
      [...metricAttributes, 'error.type'].flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]]])),
    );
    duration(metric, ((at ?? performance.now()) - begun) / 1000, measured);
  };
  return {
    context: span === nothing ? parent : trace.setSpan(parent, span),
    succeed: (more = {}, at) => {
      if (isOver) return;
      isOver = true;
      end(more, at);
      onEnd?.();
    },
    fail: (error, more = {}, at) => {
      if (isOver) return;
      isOver = true;
      quietly(() => span.setStatus({ code: SpanStatusCode.ERROR, message: errorData(error).message }));
      end({ ...more, 'error.type': typeOf(error) }, at);
      onEnd?.(error);
    },
  };
};

/** The values of an iterable, each of whose steps runs inside the operation. Whoever leaves early ends the iterable too. */
export const iterateWithin = async function* <T>(
  within: Context,
  iterable: AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  const steps = context.with(within, () => iterable[Symbol.asyncIterator]());
  let isDone = false;
  try {
    for (;;) {
      const step = await context.with(within, () => steps.next());
      if (step.done === true) {
        isDone = true;
        return;
      }
      yield step.value;
    }
  } catch (error) {
    isDone = true;
    throw error;
  } finally {
    if (!isDone) await context.with(within, () => steps.return?.());
  }
};
