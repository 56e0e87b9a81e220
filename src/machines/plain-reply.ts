import type { ModelOutcome } from '../actors/model.ts';
import { callsOf } from '../messages/message.ts';
import { addUsage } from '../messages/usage.ts';
import type { AgentContext } from './agent-context.ts';
import { brokenLimit } from './limit-steps.ts';
import { isEmpty } from './reply-steps.ts';
import type { AgentRules } from './rules.ts';
import { changeTurn } from './step.ts';

/**
 * What the outcome of a model call comes to where nothing has to be looked at first: no limit, no schema, nobody who runs the calls
 * himself. Undefined for all else.
 */
export const plainReply = (
  context: AgentContext,
  outcome: ModelOutcome,
  rules: AgentRules,
): 'calls' | 'answer' | undefined => {
  const { turn } = context;
  if (outcome.type === 'error' || outcome.notes !== undefined) return undefined;
  if (turn.finalizing !== undefined || !rules.autopilot) return undefined;
  const { reply } = outcome;
  if (callsOf(reply.message).length > 0) {
    const after = changeTurn(context, { usage: addUsage(turn.usage, reply.usage) });
    const isLimited = brokenLimit({ ...context, ...after }, reply, rules) !== undefined;
    return isLimited || rules.stopOnUnknownTool ? undefined : 'calls';
  }
  const isRefused = reply.refusal !== undefined || reply.finishReason === 'content-filter';
  return isRefused || rules.output !== undefined || isEmpty(reply) ? undefined : 'answer';
};
