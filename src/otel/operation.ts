import {
  type Attributes,
  type Context,
  type Link,
  type SpanKind,
  SpanStatusCode,
  context,
  trace,
} from '@opentelemetry/api';
import { errorData, isInstance } from '../errors.ts';
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
}

/** A span and its duration. It ends once, however often it is told. */
export interface Operation {
  /** In which the work runs, so that spans of its own become children. */
  readonly context: Context;
  succeed(attributes?: Attributes): void;
  fail(error: unknown, attributes?: Attributes): void;
}

/** A class of errors, of which there are few: a status, a code, or a name. */
const typeOf = (error: unknown): string => {
  const { status, name } = errorData(error);
  // The numbers of `DOMException` are no codes that anybody knows.
  const code = isInstance(error, Error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return status === undefined ? (code ?? name) : String(status);
};

export const beginOperation = (
  { tracer, duration }: Instruments,
  { name, kind, attributes, metric, metricAttributes, parent, links = [] }: OperationOptions,
): Operation => {
  const begun = performance.now();
  const span = tracer().startSpan(name, { kind, attributes, links }, parent);
  let isOver = false;
  const end = (more: Attributes): void => {
    span.setAttributes(more);
    span.end();
    const all = { ...attributes, ...more };
    const measured = Object.fromEntries(
      [...metricAttributes, 'error.type'].flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]]])),
    );
    duration(metric, (performance.now() - begun) / 1000, measured);
  };
  return {
    context: trace.setSpan(parent, span),
    succeed: (more = {}) => {
      if (isOver) return;
      isOver = true;
      end(more);
    },
    fail: (error, more = {}) => {
      if (isOver) return;
      isOver = true;
      span.setStatus({ code: SpanStatusCode.ERROR, message: errorData(error).message });
      end({ ...more, 'error.type': typeOf(error) });
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
