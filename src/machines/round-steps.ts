import type { JsonValue } from '../messages/json.ts';
import { callsOf, partsOf } from '../messages/message.ts';
import { type Usage, addUsage } from '../messages/usage.ts';
import type { ModelReply } from '../models/chat-model.ts';
import { type CallResult, isError, refOf, textResult } from '../tools/call.ts';
import type { AgentContext } from './agent-context.ts';
import { failure } from './ending-steps.ts';
import { isRemembered } from './remembered.ts';
import { roundKey } from './round-key.ts';
import { type Round, hasFailed, messagesOf, openRound, runCalls, settleOpen, startableAtOnce } from './round.ts';
import type { AgentRules } from './rules.ts';
import { type Step, changeTurn } from './step.ts';
import { type Turn, freshRequest } from './turn.ts';

export const beginRound = (
  context: AgentContext,
  { message, finishReason }: ModelReply,
  rules: AgentRules,
): AgentContext & { round: Round } => {
  const opened = openRound(message, context.rounds + 1, {
    changes: context.turn.toolChanges,
    prefix: context.callPrefix,
  });
  const canStart =
    finishReason !== 'length' && finishReason !== 'content-filter' && context.turn.finalizing === undefined;
  const atOnce = canStart
    ? startableAtOnce(opened, rules, (call) => !rules.needsCheck(call) && !isRemembered(context, call.tool))
    : [];
  const round = runCalls(opened, atOnce);
  const toolCalls = context.turn.toolCalls + round.calls.length;
  return {
    ...context,
    reply: null,
    round,
    rounds: context.rounds + 1,
    ...changeTurn(context, { toolCalls, request: freshRequest }),
  };
};

/**
 * Why a call is answered without being run. R5: a reply that was cut off or filtered may hold half a call. R21: the last call of a
 * turn may only give the structured answer.
 */
export const refusalOf = (
  { reply, turn: { finalizing } }: AgentContext,
  tool: string,
  rules: AgentRules,
): CallResult | undefined => {
  const reason = reply?.finishReason;
  if (reason === 'length' || reason === 'content-filter') {
    const why = reason === 'length' ? 'reached its length limit' : 'was cut off by a content filter';
    const text = `Error: the call was not run, because the reply ${why}; its arguments may be incomplete.`;
    return textResult('failed', text, { name: 'IncompleteReply', message: text, code: reason });
  }
  if (finalizing === undefined || tool === rules.output?.tool) return undefined;
  return textResult('stopped', 'Error: the call was not run: the turn reached its limit.');
};

/** Something in the round may end the turn; of any other nothing is kept beside the history. */
const decidesEnd = ({ calls }: Round, rules: AgentRules): boolean =>
  calls.some(
    (call) =>
      call.result === undefined || call.result.endTurn === true || isError(call.result) || rules.returnsDirect(call),
  );

/** The settled round becomes two messages; the counters follow (R6, R19). */
export const closeRound = (context: AgentContext, rules: AgentRules): Step => {
  const { round, turn: now } = context;
  if (round === null) return {};
  const key = roundKey(round, rules.isPolling);
  const count = key !== '' && key === now.repeats.key ? now.repeats.count + 1 : 1;
  let nested: Usage | undefined;
  for (const { result } of round.calls) if (result?.usage !== undefined) nested = addUsage(nested ?? {}, result.usage);
  return {
    usage: addUsage(context.usage, nested),
    messages: [...context.messages, ...messagesOf(round)],
    round: null,
    lastRound: decidesEnd(round, rules) ? round.calls : [],
    ...changeTurn(context, {
      usage: addUsage(now.usage, nested),
      iterations: now.iterations + 1,
      repeats: { key, count: key === '' ? 0 : count },
      consecutiveErrors: hasFailed(round) ? now.consecutiveErrors + 1 : 0,
      toolChanges: [...now.toolChanges, ...round.calls.flatMap(({ result }) => result?.toolChanges ?? [])],
    }),
  };
};

/** The calls of a reply that comes too late, at a limit: none is run, each is answered (R6). */
export const settleUnrun = (context: AgentContext, reply: ModelReply, why: string): Step => {
  const round = settleOpen(openRound(reply.message, context.rounds + 1, { prefix: context.callPrefix }), () =>
    textResult('stopped', `Error: the call was not run: ${why}.`),
  );
  return {
    reply: null,
    rounds: context.rounds + 1,
    messages: [...context.messages, ...messagesOf(round)],
    ...changeTurn(context, { request: freshRequest }),
  };
};

/** The reply stays open for the caller, who sends the results with the next message (R45). */
export const leaveToCaller = (context: AgentContext, reply: ModelReply, rules: AgentRules): Step => {
  const begun = beginRound(context, reply, rules);
  const calls = begun.round.calls.map((call) => ({ ...call, phase: 'awaiting-result' as const }));
  return { ...begun, round: { ...begun.round, calls }, ...changeTurn(begun, { outcome: { type: 'tool-calls' } }) };
};

/** The first tool that a reply calls and that does not exist now. */
export const unknownTool = (
  { turn: { toolChanges } }: AgentContext,
  reply: ModelReply,
  rules: AgentRules,
): string | undefined =>
  callsOf(reply.message).find(({ toolName }) => !rules.isKnown(refOf(toolName, toolChanges)))?.toolName;

/** R18 with `stopOnUnknownTool`: no sibling runs either. */
export const refuseUnknown = (context: AgentContext, reply: ModelReply, rules: AgentRules): Step => {
  const unknown = unknownTool(context, reply, rules) ?? '';
  const unrun = { ...context, ...settleUnrun(context, reply, `there is no tool named "${unknown}"`) };
  return {
    ...unrun,
    ...failure(unrun, 'unknown-tool', {
      name: 'UnknownTool',
      message: `the model called "${unknown}", which is no tool of this agent`,
    }),
  };
};

/** A call whose tool returns directly and went well is the answer, wherever it stands in the round (R11). */
export const directAnswer = ({ lastRound }: AgentContext, rules: AgentRules): { callId: string } | undefined => {
  const direct = lastRound.filter((each) => each.result?.status === 'ok' && rules.returnsDirect(each));
  // A structured answer goes before what other tools return directly.
  const call = direct.find(({ tool }) => tool === rules.output?.tool) ?? direct[0];
  return call === undefined ? undefined : { callId: call.callId };
};

/** The structured answer that a call of the answer's own tool gave (its result may be cut or worded anew, its arguments are not). */
const outputOf = (context: AgentContext, callId: string, rules: AgentRules): Pick<Turn, 'output'> => {
  const results = context.messages.at(-1);
  const part = partsOf(context.messages.at(-2) ?? { role: 'system', content: '' }).find(
    (each) => each.type === 'tool-call' && each.toolCallId === callId,
  );
  if (results?.role !== 'tool' || part?.type !== 'tool-call' || part.toolName !== rules.output?.tool) return {};
  return { output: part.input as JsonValue };
};

export const answerDirectly = (context: AgentContext, rules: AgentRules): Step => {
  const { callId = '' } = directAnswer(context, rules) ?? {};
  const { finalizing } = context.turn;
  return changeTurn(context, {
    ...outputOf(context, callId, rules),
    outcome: finalizing === undefined ? { type: 'answered', callId } : { type: 'limit', limit: finalizing, callId },
  });
};
