import { type Attributes, type Context, type Link, SpanKind, context, trace } from '@opentelemetry/api';
import type { ChatModel } from '../models/chat-model.ts';
import type { AgentMiddleware } from '../sessions/agent-middleware.ts';
import type { RunResult } from '../sessions/session.ts';
import { TurnError } from '../sessions/turn-error.ts';
import { isInstance } from '../errors.ts';
import { inputMessages, outputMessages } from './content.ts';
import type { SpanSetup } from './instruments.ts';
import { type Operation, beginOperation } from './operation.ts';
import { enterTurn, firstSpanOf, traceparentOf } from './turn-contexts.ts';
import { usageAttributes } from './usage-attributes.ts';

interface BeginningTurn {
  sessionId: string | undefined;
  model?: ChatModel | undefined;
  parent: Context;
  links?: Link[];
  attributes?: Attributes;
}

export const beginTurn = (
  { agent, options, telemetry, instruments }: SpanSetup,
  { sessionId, model = options.model, parent, links = [], attributes = {} }: BeginningTurn,
): Operation =>
  beginOperation(instruments, {
    name: `invoke_agent ${agent}`,
    kind: SpanKind.INTERNAL,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': model.provider ?? telemetry.provider ?? 'unknown',
      'gen_ai.agent.name': agent,
      ...(sessionId === undefined ? {} : { 'gen_ai.conversation.id': sessionId }),
      'gen_ai.request.model': model.name,
      ...attributes,
    },
    metric: 'gen_ai.invoke_agent.duration',
    metricAttributes: ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.agent.name', 'gen_ai.request.model'],
    parent,
    links,
  });

/** `invoke_agent` around every turn, and around every stretch of a turn that goes on. */
export const turnSpans = (setup: SpanSetup): AgentMiddleware => {
  const { agent, telemetry } = setup;
  const { recordContent = false } = telemetry;
  const ended = ({ outcome, text }: Pick<RunResult, 'outcome' | 'text'>) => ({
    'agentchart.outcome': outcome.type,
    ...(recordContent && text !== '' ? { 'gen_ai.output.messages': outputMessages(text, 'stop') } : {}),
  });
  return (next) => async (turn) => {
    const first = firstSpanOf(turn.metadata);
    const operation = beginTurn(setup, {
      sessionId: turn.sessionId,
      model: turn.model,
      parent: context.active(),
      links: turn.isContinued && first !== undefined ? [{ context: first }] : [],
      attributes: recordContent && !turn.isContinued ? { 'gen_ai.input.messages': inputMessages(turn.messages) } : {},
    });
    const own = trace.getSpanContext(operation.context);
    const metadata =
      turn.isContinued || own === undefined ? turn.metadata : { ...turn.metadata, ...traceparentOf(own) };
    const leave = enterTurn({ agent, sessionId: turn.sessionId, metadata }, operation.context);
    try {
      const given = metadata === undefined ? turn : { ...turn, metadata };
      const result = await context.with(operation.context, () => next(given));
      operation.succeed({ ...usageAttributes(leave()), ...ended(result) });
      return result;
    } catch (error) {
      operation.fail(error, {
        ...usageAttributes(leave()),
        ...(isInstance(error, TurnError) ? ended(error.result) : {}),
      });
      throw error;
    }
  };
};
