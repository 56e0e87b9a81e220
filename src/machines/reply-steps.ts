import type { ModelOutcome } from '../actors/model.ts';
import type { JsonValue } from '../messages/json.ts';
import { partsOf, textOf } from '../messages/message.ts';
import { isEmptyMessage } from '../messages/own-options.ts';
import { addUsage } from '../messages/usage.ts';
import type { ModelReply } from '../models/chat-model.ts';
import type { AgentContext } from './agent-context.ts';
import { takeNotes } from './note-steps.ts';
import { nameProviderCalls } from './provider-calls.ts';
import { type AgentRules, backoff } from './rules.ts';
import { type Step, changeTurn } from './step.ts';
import { type Outcome, freshRequest } from './turn.ts';

/** Keeps what the model said, or how it failed, until the chart has decided what follows. */
export const takeOutcome = (before: AgentContext, outcome: ModelOutcome): Step => {
  const noted = outcome.notes === undefined ? undefined : takeNotes(before, outcome.notes);
  const context = noted ?? before;
  const { turn: now } = context;
  if (outcome.type === 'error') {
    const request = { ...now.request, attempt: now.request.attempt + 1, error: outcome.error };
    return { ...noted, reply: null, failure: outcome.error, ...changeTurn(context, { request }) };
  }
  const { usage, finishReason, model } = outcome.reply;
  const message = nameProviderCalls(outcome.reply.message, context.modelCalls.length + 1, context.messages);
  const call = { turn: now.number, model: model ?? outcome.model, finishReason };
  return {
    ...noted,
    reply: { ...outcome.reply, message },
    failure: null,
    modelCalls: [...context.modelCalls, usage === undefined ? call : { ...call, usage }],
    usage: addUsage(context.usage, usage),
    ...changeTurn(context, { usage: addUsage(now.usage, usage) }),
  };
};

export const planRetry = (context: AgentContext, rules: AgentRules): Step => {
  const { request } = context.turn;
  const wait = context.failure?.retryAfter ?? backoff(rules.retry, request.attempt);
  return { failure: null, ...changeTurn(context, { request: { ...request, retryAt: rules.now() + wait } }) };
};

export const useFallback = (context: AgentContext): Step => ({
  failure: null,
  // Empty replies count on: a model that answers nothing and one that fails by turns would go on for ever.
  ...changeTurn(context, {
    request: {
      ...freshRequest,
      model: context.turn.request.model + 1,
      emptyReplies: context.turn.request.emptyReplies,
    },
  }),
});

export const askAgain = (context: AgentContext): Step => ({
  reply: null,
  ...changeTurn(context, { request: { ...freshRequest, emptyReplies: context.turn.request.emptyReplies + 1 } }),
});

/** True for a reply that says nothing: no call and no text that a person could read. */
export const isEmpty = (reply: ModelReply): boolean =>
  textOf(reply.message).trim() === '' &&
  partsOf(reply.message).every((part) => part.type === 'text' || part.type === 'reasoning');

export const keepAnswer = (context: AgentContext, { message }: ModelReply): Step => ({
  reply: null,
  // Providers refuse a message with nothing in it; at a limit even such a reply ends the turn.
  messages: isEmptyMessage(message) ? context.messages : [...context.messages, message],
  ...changeTurn(context, { request: freshRequest }),
});

/** The reply's text fits the schema: it is the answer. */
export const keepOutput = (context: AgentContext, output: JsonValue): Step => {
  const { reply } = context;
  if (reply === null) return {};
  const kept = { ...context, ...keepAnswer(context, reply) };
  const { finalizing } = context.turn;
  const outcome: Outcome = finalizing === undefined ? { type: 'answered' } : { type: 'limit', limit: finalizing };
  return { ...kept, ...changeTurn(kept, { output, outcome }) };
};

/** The reply's text does not fit: the model is told why and asked again, within the limits. */
export const refuseOutput = (context: AgentContext, issues: readonly string[], rules: AgentRules): Step => {
  const { reply } = context;
  if (reply === null) return {};
  const how =
    rules.output?.tool === undefined ? 'Answer again with JSON that fits.' : `Give it by calling ${rules.output.tool}.`;
  const content = [
    'The answer does not have the form that is needed:',
    ...issues.map((issue) => `- ${issue}`),
    how,
  ].join('\n');
  const kept = { ...context, ...keepAnswer(context, reply) };
  return {
    ...kept,
    messages: [...kept.messages, { role: 'user', content }],
    ...changeTurn(kept, {
      iterations: kept.turn.iterations + 1,
      consecutiveErrors: kept.turn.consecutiveErrors + 1,
      // Why it is asked again, or why it is not.
      request: { ...freshRequest, error: { name: 'UnfitAnswer', message: issues.join('; ') } },
    }),
  };
};
