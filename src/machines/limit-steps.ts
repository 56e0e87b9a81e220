import type { StopOutcome } from '../actors/stop-when.ts';
import type { AgentErrorCode } from '../errors.ts';
import { callsOf } from '../messages/message.ts';
import type { ModelReply } from '../models/chat-model.ts';
import type { AgentContext } from './agent-context.ts';
import { endTurn, failure } from './ending-steps.ts';
import { keepAnswer } from './reply-steps.ts';
import { settleUnrun } from './round-steps.ts';
import type { AgentRules } from './rules.ts';
import { type Step, changeTurn } from './step.ts';
import { type LimitName, type Turn, limitsOf, tokensOf } from './turn.ts';

/** The reply after the last call without tools: its text is the answer, calls in it are not run (R21). */
export const finishLast = (context: AgentContext, reply: ModelReply): Step => {
  const limit = context.turn.finalizing ?? 'maxIterations';
  const kept =
    callsOf(reply.message).length === 0
      ? keepAnswer(context, reply)
      : settleUnrun(context, reply, 'the turn reached its limit');
  return { ...kept, ...changeTurn({ ...context, ...kept }, { outcome: { type: 'limit', limit } }) };
};

/** A round that would exceed a limit runs nothing (R22). */
export const breakLimit = (context: AgentContext, reply: ModelReply, rules: AgentRules): Step => {
  const limit = brokenLimit(context, reply, rules) ?? 'maxTokens';
  const unrun = { ...context, ...settleUnrun(context, reply, `the turn reached its limit ${limit}`) };
  return { ...unrun, ...endAtLimit(unrun, limit, rules) };
};

const limitCodes = {
  maxIterations: 'iteration-limit',
  maxTokens: 'token-limit',
  maxToolCalls: 'tool-call-limit',
  deadline: 'deadline',
  stopWhen: 'stop-when',
  loopDetection: 'loop-detected',
} as const satisfies Record<LimitName, AgentErrorCode>;

/** The option that set the limit, its bound, and where the turn stood. What was spent before a `retry` does not count. */
const standing = ({ turn }: AgentContext, limit: LimitName, rules: AgentRules): string => {
  const { maxIterations, maxTokens, maxToolCalls, deadline } = limitsOf(turn, rules.limits);
  switch (limit) {
    case 'maxIterations':
      return `limits.maxIterations: ${maxIterations}, rounds so far: ${turn.iterations - turn.granted}`;
    case 'maxTokens':
      return `limits.maxTokens: ${maxTokens}, tokens so far: ${tokensOf(turn.usage) - turn.tokensGranted}`;
    case 'maxToolCalls':
      return `limits.maxToolCalls: ${maxToolCalls}, calls so far: ${turn.toolCalls}, and the next round would go beyond it`;
    case 'deadline':
      return `limits.deadline: ${deadline} ms of work`;
    case 'stopWhen':
      return `option "stopWhen" gave true, rounds so far: ${turn.iterations}`;
    case 'loopDetection':
      return `option "loopDetection", equal rounds in a row: ${turn.repeats.count}`;
    default:
      return limit satisfies never;
  }
};

/** At a limit the turn rests as limited, or fails where `onLimit` says so. */
export const endAtLimit = (context: AgentContext, limit: LimitName, rules: AgentRules): Pick<AgentContext, 'turn'> =>
  limitsOf(context.turn, rules.limits).onLimit === 'fail'
    ? failure(context, limitCodes[limit], {
        name: 'LimitReached',
        message: `the turn reached its limit: ${standing(context, limit, rules)}`,
      })
    : endTurn(context, { type: 'limit', limit });

/** Where the question failed the turn does too, whatever `onLimit` says. */
export const endByStopWhen = (context: AgentContext, { error }: StopOutcome, rules: AgentRules): Step =>
  error === undefined ? endAtLimit(context, 'stopWhen', rules) : failure(context, limitCodes.stopWhen, error);

/** Which limit a round of this reply would break, before any of it runs (R22). */
export const brokenLimit = (context: AgentContext, reply: ModelReply, rules: AgentRules): LimitName | undefined => {
  const { maxTokens, maxToolCalls } = limitsOf(context.turn, rules.limits);
  const { usage, toolCalls } = context.turn;
  const tokens = tokensOf(usage) - context.turn.tokensGranted;
  if (maxTokens !== undefined && tokens >= maxTokens) return 'maxTokens';
  if (maxToolCalls !== undefined && toolCalls + callsOf(reply.message).length > maxToolCalls) return 'maxToolCalls';
  return undefined;
};

/** When the deadline will be reached if work goes on from now, and the context that says so; undefined where there is none. */
export const beginWork = (context: AgentContext, rules: AgentRules): { step: Step; at: number } | undefined => {
  const { deadline } = limitsOf(context.turn, rules.limits);
  if (deadline === undefined) return undefined;
  const since = rules.now();
  const { ms } = context.turn.work;
  return { step: changeTurn(context, { work: { ms, since } }), at: since + deadline - ms };
};

/** Adds up what was worked; waiting for people does not count (R22). */
export const pauseWork = (context: AgentContext, rules: AgentRules): Step => {
  const { ms, since } = context.turn.work;
  return since === undefined ? {} : changeTurn(context, { work: { ms: ms + Math.max(0, rules.now() - since) } });
};

/** True when what was worked so far is as much as the turn may. */
export const isPastDeadline = (now: Turn, rules: AgentRules): boolean => {
  const { deadline } = limitsOf(now, rules.limits);
  const { ms, since } = now.work;
  return deadline !== undefined && since !== undefined && ms + rules.now() - since >= deadline;
};
