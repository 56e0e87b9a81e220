import type { ModelOutcome } from '../actors/model.ts';
import type { AgentErrorCode, ErrorData } from '../errors.ts';
import { repairHistory } from '../messages/history.ts';
import { isEmptyMessage } from '../messages/own-options.ts';
import type { JsonValue } from '../messages/json.ts';
import { type Message, type ToolResultPart, callsOf, partsOf, textOf } from '../messages/message.ts';
import { type Usage, addUsage } from '../messages/usage.ts';
import type { ModelReply } from '../models/chat-model.ts';
import { type CallResult, isError, refOf, textResult } from '../tools/call.ts';
import type { AgentContext } from './agent-context.ts';
import { type Round, hasFailed, messagesOf, openRound, settleOpen } from './round.ts';
import { nameProviderCalls } from './provider-calls.ts';
import { roundKey } from './round-key.ts';
import { type AgentRules, backoff } from './rules.ts';
import { type CallError, type LimitName, type Outcome, type Turn, freshRequest, limitsOf } from './turn.ts';

// Each function is one step of the chart: the context before, what happened, and what changes.
type Step = Partial<AgentContext>;

const turn = (context: AgentContext, change: Partial<Turn>): Pick<AgentContext, 'turn'> => ({
  turn: { ...context.turn, ...change },
});

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
  return turn(context, {
    ...outputOf(context, callId, rules),
    outcome: finalizing === undefined ? { type: 'answered', callId } : { type: 'limit', limit: finalizing, callId },
  });
};

/** The reply's text fits the schema: it is the answer. */
export const keepOutput = (context: AgentContext, output: JsonValue): Step => {
  const { reply } = context;
  if (reply === null) return {};
  const kept = { ...context, ...keepAnswer(context, reply) };
  const { finalizing } = context.turn;
  const outcome: Outcome = finalizing === undefined ? { type: 'answered' } : { type: 'limit', limit: finalizing };
  return { ...kept, ...turn(kept, { output, outcome }) };
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
    ...turn(kept, {
      iterations: kept.turn.iterations + 1,
      consecutiveErrors: kept.turn.consecutiveErrors + 1,
    }),
  };
};

export const endTurn = (context: AgentContext, outcome: Outcome): Step => turn(context, { outcome });

/** Results that the caller sends for calls that the agent left to it (R45); what it does not answer is cancelled (R6). */
const settleBySender = (round: Round, messages: readonly Message[]): { round: Round; rest: Message[] } => {
  const given = new Map<string, ToolResultPart>();
  const rest: Message[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') {
      rest.push(message);
      continue;
    }
    for (const part of message.content) given.set(part.toolCallId, part);
  }
  return {
    round: settleOpen(round, ({ callId }) => {
      const part = given.get(callId);
      return part === undefined
        ? textResult('cancelled', 'Error: the call was cancelled; no result was given for it.')
        : { status: 'ok', output: part.output };
    }),
    rest,
  };
};

/** The first message of the inbox begins the next turn. */
export const startTurn = (context: AgentContext): Step => {
  const [next, ...inbox] = context.inbox;
  if (next === undefined) return {};
  const { round, rest } =
    context.round === null ? { round: null, rest: next.messages } : settleBySender(context.round, next.messages);
  const before = round === null ? context.messages : [...context.messages, ...messagesOf(round)];
  const isPlain = rest.every((message) => message.role === 'user');
  return {
    messages: isPlain ? [...before, ...rest] : repairHistory([...before, ...rest]),
    round: null,
    inbox,
    turn: {
      number: context.turn.number + 1,
      firstMessage: before.length,
      firstModelCall: context.modelCalls.length,
      iterations: 0,
      granted: 0,
      consecutiveErrors: 0,
      toolCalls: 0,
      tokensGranted: 0,
      usage: {},
      toolChanges: [],
      repeats: { key: '', count: 0 },
      work: { ms: 0 },
      options: next.options ?? {},
      request: freshRequest,
    },
  };
};

const tokensOf = (usage: Usage): number => usage.totalTokens ?? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);

/** A turn that has its answer, or whose calls are the caller's, has nothing to go on with. */
export const mayResume = ({ turn: { outcome, finalizing } }: AgentContext): boolean => {
  if (outcome === undefined) return false;
  if (outcome.type === 'limit') return finalizing === undefined;
  return outcome.type === 'failed' || outcome.type === 'stopped' || outcome.type === 'refused';
};

/** `retry`: the turn goes on from its last settled state, with its counters of errors afresh and another grant of rounds. */
export const resumeTurn = (context: AgentContext, rules: AgentRules): Step => {
  const { outcome, finalizing: _last, stopping: _stop, ...rest } = context.turn;
  const { maxIterations } = limitsOf(context.turn, rules.limits);
  const isSpent = rest.iterations >= maxIterations + rest.granted;
  return {
    turn: {
      ...rest,
      granted: outcome?.type === 'limit' || isSpent ? rest.iterations : rest.granted,
      tokensGranted: tokensOf(rest.usage),
      toolCalls: 0,
      consecutiveErrors: 0,
      repeats: { key: '', count: 0 },
      work: { ms: 0 },
      request: freshRequest,
    },
  };
};

/** Messages that were sent to this turn are read before its next model call (R34). */
export const readSteering = (context: AgentContext): Step => {
  const steering = context.inbox.filter(({ mode }) => mode === 'steer');
  if (steering.length === 0) return {};
  const messages = [...context.messages, ...steering.flatMap((each) => each.messages)];
  return {
    messages: steering.every((each) => each.messages.every(({ role }) => role === 'user'))
      ? messages
      : repairHistory(messages),
    inbox: context.inbox.filter(({ mode }) => mode !== 'steer'),
  };
};

/** Keeps what the model said, or how it failed, until the chart has decided what follows. */
export const takeOutcome = (context: AgentContext, outcome: ModelOutcome): Step => {
  const { turn: now } = context;
  if (outcome.type === 'error') {
    const request = { ...now.request, attempt: now.request.attempt + 1, error: outcome.error };
    return { reply: null, failure: outcome.error, ...turn(context, { request }) };
  }
  const { usage, finishReason, model } = outcome.reply;
  const message = nameProviderCalls(outcome.reply.message, context.modelCalls.length + 1, context.messages);
  const call = { turn: now.number, model: model ?? outcome.model, finishReason };
  return {
    reply: { ...outcome.reply, message },
    failure: null,
    modelCalls: [...context.modelCalls, usage === undefined ? call : { ...call, usage }],
    usage: addUsage(context.usage, usage),
    ...turn(context, { usage: addUsage(now.usage, usage) }),
  };
};

export const planRetry = (context: AgentContext, rules: AgentRules): Step => {
  const { request } = context.turn;
  const wait = context.failure?.retryAfter ?? backoff(rules.retry, request.attempt);
  return { failure: null, ...turn(context, { request: { ...request, retryAt: rules.now() + wait } }) };
};

export const useFallback = (context: AgentContext): Step => ({
  failure: null,
  ...turn(context, { request: { ...freshRequest, model: context.turn.request.model + 1 } }),
});

export const askAgain = (context: AgentContext): Step => ({
  reply: null,
  ...turn(context, { request: { ...freshRequest, emptyReplies: context.turn.request.emptyReplies + 1 } }),
});

/** True for a reply that says nothing: no call and no text that a person could read. */
export const isEmpty = (reply: ModelReply): boolean =>
  textOf(reply.message).trim() === '' &&
  partsOf(reply.message).every((part) => part.type === 'text' || part.type === 'reasoning');

export const keepAnswer = (context: AgentContext, { message }: ModelReply): Step => ({
  reply: null,
  // Providers refuse a message with nothing in it; at a limit even such a reply ends the turn.
  messages: isEmptyMessage(message) ? context.messages : [...context.messages, message],
  ...turn(context, { request: freshRequest }),
});

export const beginRound = (context: AgentContext, { message }: ModelReply): AgentContext & { round: Round } => {
  const round = openRound(message, context.rounds + 1, {
    changes: context.turn.toolChanges,
    prefix: context.callPrefix,
  });
  const toolCalls = context.turn.toolCalls + round.calls.length;
  return {
    ...context,
    reply: null,
    round,
    rounds: context.rounds + 1,
    ...turn(context, { toolCalls, request: freshRequest }),
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

/** The settled round becomes two messages; the counters follow (R6, R19). */
export const closeRound = (context: AgentContext, rules: AgentRules): Step => {
  const { round, turn: now } = context;
  if (round === null) return {};
  const key = roundKey(round, rules.isPolling);
  const count = key !== '' && key === now.repeats.key ? now.repeats.count + 1 : 1;
  const nested = round.calls.reduce<Usage>((sum, { result }) => addUsage(sum, result?.usage), {});
  return {
    usage: addUsage(context.usage, nested),
    messages: [...context.messages, ...messagesOf(round)],
    round: null,
    lastRound: round.calls,
    ...turn(context, {
      usage: addUsage(now.usage, nested),
      iterations: now.iterations + 1,
      repeats: { key, count: key === '' ? 0 : count },
      consecutiveErrors: hasFailed(round) ? now.consecutiveErrors + 1 : 0,
      toolChanges: [...now.toolChanges, ...round.calls.flatMap(({ result }) => result?.toolChanges ?? [])],
    }),
  };
};

/** The calls of a reply that comes too late, at a limit: none is run, each is answered (R6). */
const settleUnrun = (context: AgentContext, reply: ModelReply, why: string): Step => {
  const round = settleOpen(openRound(reply.message, context.rounds + 1, { prefix: context.callPrefix }), () =>
    textResult('stopped', `Error: the call was not run: ${why}.`),
  );
  return {
    reply: null,
    rounds: context.rounds + 1,
    messages: [...context.messages, ...messagesOf(round)],
    ...turn(context, { request: freshRequest }),
  };
};

/** The reply stays open for the caller, who sends the results with the next message (R45). */
export const leaveToCaller = (context: AgentContext, reply: ModelReply): Step => {
  const begun = beginRound(context, reply);
  const calls = begun.round.calls.map((call) => ({ ...call, phase: 'awaiting-result' as const }));
  return { ...begun, round: { ...begun.round, calls }, ...turn(begun, { outcome: { type: 'tool-calls' } }) };
};

/** The reply after the last call without tools: its text is the answer, calls in it are not run (R21). */
export const finishLast = (context: AgentContext, reply: ModelReply): Step => {
  const limit = context.turn.finalizing ?? 'maxIterations';
  const kept =
    callsOf(reply.message).length === 0
      ? keepAnswer(context, reply)
      : settleUnrun(context, reply, 'the turn reached its limit');
  return { ...kept, ...turn({ ...context, ...kept }, { outcome: { type: 'limit', limit } }) };
};

/** A round that would exceed a limit runs nothing (R22). */
export const breakLimit = (context: AgentContext, reply: ModelReply, rules: AgentRules): Step => {
  const limit = brokenLimit(context, reply, rules) ?? 'maxTokens';
  const unrun = { ...context, ...settleUnrun(context, reply, `the turn reached its limit ${limit}`) };
  return { ...unrun, ...endAtLimit(unrun, limit, rules) };
};

/** A call whose tool returns directly and went well is the answer, wherever it stands in the round (R11). */
export const directAnswer = ({ lastRound }: AgentContext, rules: AgentRules): { callId: string } | undefined => {
  const call = lastRound.find((each) => each.result?.status === 'ok' && rules.returnsDirect(each));
  return call === undefined ? undefined : { callId: call.callId };
};

export const endRefused = (context: AgentContext): Step => {
  const reply = context.reply;
  const reason = reply?.refusal ?? (reply === null ? '' : textOf(reply.message));
  return {
    reply: null,
    ...turn(context, { outcome: { type: 'refused', reason: reason || 'content filter' }, request: freshRequest }),
  };
};

export const failEmpty = (context: AgentContext): Step => ({
  reply: null,
  ...failure(context, 'empty-reply', { name: 'EmptyReply', message: 'the model gave an empty reply twice' }),
});

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

export const failure = (
  context: AgentContext,
  code: AgentErrorCode,
  error: ErrorData,
  errors?: CallError[],
): Pick<AgentContext, 'turn'> =>
  turn(context, {
    outcome: { type: 'failed', code, error, ...(errors === undefined ? {} : { errors }) },
    request: freshRequest,
  });

export const failByModel = (context: AgentContext, rules: AgentRules): Step => {
  const error = context.failure ?? { name: 'Error', message: 'the model failed', transient: false };
  const { transient, retryAfter, overflow, ...data } = error;
  const isTooLong = retryAfter !== undefined && retryAfter > rules.retry.maxRetryAfter;
  const message = isTooLong ? `${data.message} (the provider asks to wait ${retryAfter} ms)` : data.message;
  return { failure: null, ...failure(context, overflow ? 'context-overflow' : 'model-error', { ...data, message }) };
};

/** R20: all errors of the last round, in call order. */
export const failByErrors = (context: AgentContext): Step => {
  const errors: CallError[] = [];
  for (const { callId, tool, result } of context.lastRound) {
    if (result === undefined || !isError(result)) continue;
    const text = result.output.type === 'error-text' ? result.output.value : result.status;
    errors.push({ ...(result.error ?? { name: 'Error', message: text }), callId, tool });
  }
  const list =
    errors.map(({ tool, message }) => `${tool}: ${message}`).join('; ') || 'the answer did not fit its schema';
  const message = `${context.turn.consecutiveErrors} rounds in a row had errors; the last: ${list}`;
  return failure(context, 'error-limit', { name: 'ErrorLimit', message }, errors);
};

const limitCodes = {
  maxIterations: 'iteration-limit',
  maxTokens: 'token-limit',
  maxToolCalls: 'tool-call-limit',
  deadline: 'deadline',
  stopWhen: 'stop-when',
  loopDetection: 'loop-detected',
} as const satisfies Record<LimitName, AgentErrorCode>;

/** At a limit the turn rests as limited, or fails where `onLimit` says so. */
export const endAtLimit = (context: AgentContext, limit: LimitName, rules: AgentRules): Pick<AgentContext, 'turn'> =>
  limitsOf(context.turn, rules.limits).onLimit === 'fail'
    ? failure(context, limitCodes[limit], { name: 'LimitReached', message: `the turn reached its limit: ${limit}` })
    : turn(context, { outcome: { type: 'limit', limit } });

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
  return { step: turn(context, { work: { ms, since } }), at: since + deadline - ms };
};

/** Adds up what was worked; waiting for people does not count (R22). */
export const pauseWork = (context: AgentContext, rules: AgentRules): Step => {
  const { ms, since } = context.turn.work;
  return since === undefined ? {} : turn(context, { work: { ms: ms + Math.max(0, rules.now() - since) } });
};

/** True when what was worked so far is as much as the turn may. */
export const isPastDeadline = (now: Turn, rules: AgentRules): boolean => {
  const { deadline } = limitsOf(now, rules.limits);
  const { ms, since } = now.work;
  return deadline !== undefined && since !== undefined && ms + rules.now() - since >= deadline;
};
