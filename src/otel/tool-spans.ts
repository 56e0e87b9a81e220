import { SpanKind, context } from '@opentelemetry/api';
import { isInstance } from '../errors.ts';
import type { ToolMiddleware } from '../tools/tool-middleware.ts';
import { jsonText } from './content.ts';
import type { SpanSetup } from './instruments.ts';
import { beginOperation, iterateWithin } from './operation.ts';
import { placeInTurn } from './turn-contexts.ts';
import { beginTurn } from './turn-spans.ts';

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** `execute_tool` around every run of a tool, also of its retries. A tool that gives values one by one runs until the last one. */
export const toolSpans =
  (setup: SpanSetup): ToolMiddleware =>
  (next) =>
  async (run) => {
    const { agent, telemetry, instruments } = setup;
    const { tool, input, ctx } = run;
    const { recordContent = false } = telemetry;
    const { sessionId, metadata, callId, signal } = ctx;
    const operation = beginOperation(instruments, {
      name: `execute_tool ${tool.name}`,
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool.name,
        'gen_ai.tool.call.id': callId,
        'gen_ai.tool.type': 'function',
        ...(tool.description === undefined ? {} : { 'gen_ai.tool.description': tool.description }),
        'gen_ai.agent.name': agent,
        'gen_ai.conversation.id': sessionId,
        ...(recordContent ? { 'gen_ai.tool.call.arguments': jsonText(input) } : {}),
      },
      metric: 'gen_ai.execute_tool.duration',
      metricAttributes: ['gen_ai.operation.name', 'gen_ai.tool.name', 'gen_ai.tool.type', 'gen_ai.agent.name'],
      ...placeInTurn({ agent, sessionId, metadata }, (parent) => beginTurn(setup, { sessionId, parent })),
    });
    // Nobody waits any longer for a tool that was stopped or timed out, and it may never end.
    const stop = (): void => operation.fail(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const settle = (value: unknown): void => {
      signal.removeEventListener('abort', stop);
      if (isInstance(value, Error)) operation.fail(value);
      else operation.succeed(recordContent ? { 'gen_ai.tool.call.result': jsonText(value) } : {});
    };
    const break_ = (error: unknown): void => {
      signal.removeEventListener('abort', stop);
      operation.fail(error);
    };
    const toTheLast = async function* (values: AsyncIterable<unknown>): AsyncGenerator<unknown, void, undefined> {
      let last: unknown;
      try {
        for await (const value of iterateWithin(operation.context, values)) {
          last = value;
          yield value;
        }
        settle(last);
      } catch (error) {
        break_(error);
        throw error;
      } finally {
        // Of a reader that left early nothing else is heard.
        settle(last);
      }
    };
    try {
      const value = await context.with(operation.context, () => next(run));
      if (isAsyncIterable(value)) return toTheLast(value);
      settle(value);
      return value;
    } catch (error) {
      break_(error);
      throw error;
    }
  };
