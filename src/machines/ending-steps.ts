import type { ModelFailure, ModelOutcome } from '../actors/model.ts';
import type { AgentErrorCode, ErrorData } from '../errors.ts';
import { textOf } from '../messages/message.ts';
import { isError } from '../tools/call.ts';
import type { AgentContext } from './agent-context.ts';
import { keepAnswer, takeOutcome } from './reply-steps.ts';
import type { AgentRules } from './rules.ts';
import { type Step, changeTurn } from './step.ts';
import { type CallError, type Outcome, freshRequest, limitsOf } from './turn.ts';

/** What it ended by is said by the outcome: nothing is stopping any more. */
export const endTurn = ({ turn }: Pick<AgentContext, 'turn'>, outcome: Outcome): Pick<AgentContext, 'turn'> => {
  if (turn.stopping === undefined) return { turn: { ...turn, outcome } };
  const { stopping: _over, ...ended } = turn;
  return { turn: { ...ended, outcome } };
};

/** The model's reply is the answer, and the turn is over with it. */
export const takeAnswer = (context: AgentContext, outcome: ModelOutcome): Step => {
  const step = takeOutcome(context, outcome);
  const taken = { ...context, ...step };
  const kept = taken.reply === null ? undefined : keepAnswer(taken, taken.reply);
  return { ...step, ...kept, ...endTurn({ turn: kept?.turn ?? taken.turn }, { type: 'answered' }) };
};

export const endRefused = (context: AgentContext): Step => {
  const reply = context.reply;
  const reason = reply?.refusal ?? (reply === null ? '' : textOf(reply.message));
  return {
    reply: null,
    ...changeTurn(context, { outcome: { type: 'refused', reason: reason || 'content filter' }, request: freshRequest }),
  };
};

export const failEmpty = (context: AgentContext): Step => ({
  reply: null,
  ...failure(context, 'empty-reply', { name: 'EmptyReply', message: 'the model gave an empty reply twice' }),
});

export const failure = (
  context: AgentContext,
  code: AgentErrorCode,
  error: ErrorData,
  errors?: CallError[],
): Pick<AgentContext, 'turn'> => ({
  turn: {
    ...endTurn(context, { type: 'failed', code, error, ...(errors === undefined ? {} : { errors }) }).turn,
    request: freshRequest,
  },
});

const codeOf = ({ store, overflow, code }: ModelFailure): AgentErrorCode => {
  if (store === true) return 'store-error';
  if (overflow === true) return 'context-overflow';
  return code === 'context-provider-error' || code === 'load-failed' ? code : 'model-error';
};

export const failByModel = (context: AgentContext, rules: AgentRules): Step => {
  const error = context.failure ?? { name: 'Error', message: 'the model failed', transient: false };
  const { transient: _, retryAfter, overflow: _length, store: _store, ...data } = error;
  const isTooLong = retryAfter !== undefined && retryAfter > rules.retry.maxRetryAfter;
  const message = isTooLong ? `${data.message} (the provider asks to wait ${retryAfter} ms)` : data.message;
  return { failure: null, ...failure(context, codeOf(error), { ...data, message }) };
};

/** What is told of so many failing rounds; the errors are those of the last one. An answer that did not fit is no call, and has none. */
export const errorLimit = (
  rounds: number,
  errors: readonly CallError[],
  { bound = rounds - 1, unfit }: { bound?: number; unfit?: ErrorData | undefined } = {},
): ErrorData => {
  const why = unfit === undefined ? '' : `: ${unfit.message}`;
  const list =
    errors.map(({ tool, message }) => `${tool}: ${message}`).join('; ') || `the answer did not fit its schema${why}`;
  const count = rounds === 1 ? '1 round' : `${rounds} rounds in a row`;
  return {
    name: 'ErrorLimit',
    message: `${count} had errors, and limits.maxConsecutiveErrors is ${bound}; the last: ${list}`,
    ...(unfit === undefined ? {} : { cause: unfit }),
  };
};

/** R20: all errors of the last round, in call order. */
export const failByErrors = (context: AgentContext, rules: AgentRules): Step => {
  const { turn } = context;
  const errors: CallError[] = [];
  for (const { callId, tool, result } of context.lastRound) {
    if (result === undefined || !isError(result)) continue;
    const text = result.output.type === 'error-text' ? result.output.value : result.status;
    errors.push({ ...(result.error ?? { name: 'Error', message: text }), callId, tool });
  }
  const bound = limitsOf(turn, rules.limits).maxConsecutiveErrors;
  const unfit = errors.length === 0 ? turn.request.error : undefined;
  return failure(context, 'error-limit', errorLimit(turn.consecutiveErrors, errors, { bound, unfit }), errors);
};
