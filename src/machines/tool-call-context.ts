import { errorData } from '../errors.ts';
import type { CheckOutcome } from '../actors/check.ts';
import type { ToolInput, ToolOutcome } from '../actors/tool.ts';
import { type JsonValue, canonicalJson } from '../messages/json.ts';
import type { Usage } from '../messages/usage.ts';
import {
  type CallNeeds,
  type CallPhase,
  type CallResult,
  type CallSpec,
  type NestedState,
  leftBehind,
  rejection,
  textResult,
} from '../tools/call.ts';
import { type AgentRules, backoff } from './rules.ts';
import type { TurnResult } from './turn-result.ts';

export interface ToolCallInput {
  call: CallSpec;
  sessionId: string;
  /** The call is not to be run at all, and this is why (R5, R18, R22). */
  refusal?: CallResult;
  /** A slot is free and nobody is to be asked: it runs at once, and its tool checks the arguments. */
  mayStart?: boolean;
}

export interface ToolCallContext {
  call: CallSpec;
  sessionId: string;
  phase: CallPhase;
  /** What will run: the checked arguments where they are plain JSON, else what the model gave, to be checked once more. */
  input: unknown;
  isChecked: boolean;
  inputHash: string;
  /** A human or a policy has decided: nobody is asked again. */
  isDecided: boolean;
  /** Of sessions that were saved before a call that may start does; false ever since. */
  mayStart: boolean;
  edited?: JsonValue | undefined;
  attempt: number;
  retryAt?: number;
  waiting?: CallNeeds | undefined;
  nested?: NestedState;
  stopping?: { reason?: string } | undefined;
  result?: CallResult;
}

export interface ApprovalGranted {
  type: 'approval.granted';
  callId: string;
  /** Runs in place of what the model asked, after it is checked. */
  input?: JsonValue;
  /** Refused unless it is the pending call's (R29). */
  inputHash?: string;
  remember?: 'tool' | 'input';
  by?: string;
}

export interface ApprovalRejected {
  type: 'approval.rejected';
  callId: string;
  reason?: string;
  inputHash?: string;
  remember?: 'tool' | 'input';
  by?: string;
}

/** A human, or the application, answers the call in the tool's place. */
export interface CallAnswered {
  type: 'call.result';
  callId: string;
  output: JsonValue;
  inputHash?: string;
  by?: string;
}

export type DecisionEvent = ApprovalGranted | ApprovalRejected | CallAnswered;

export type ToolCallEvent =
  | DecisionEvent
  | { type: 'call.start' }
  | AgentReported
  | { type: 'xstate.done.actor.agent'; output: TurnResult }
  | { type: 'call.stop'; reason?: string }
  | { type: 'call.cancel'; callId: string }
  /** Asks the call to say again where it is. */
  | { type: 'call.report' };

/** What an agent inside a call tells the call. */
export interface AgentReported {
  type: 'agent.reported';
  nested: NestedState;
}

/** What a call tells its round. */
export interface CallReported {
  type: 'call.reported';
  callId: string;
  phase: CallPhase;
  waiting?: CallNeeds;
  nested?: NestedState;
  result?: CallResult;
}

export const initialToolCall = ({ call, sessionId, refusal, mayStart = false }: ToolCallInput): ToolCallContext => ({
  call,
  sessionId,
  phase: mayStart ? 'running' : 'validating',
  input: call.input,
  isChecked: false,
  inputHash: '',
  isDecided: false,
  mayStart: false,
  attempt: mayStart ? 1 : 0,
  ...(refusal === undefined ? {} : { result: refusal }),
});

/** What the tool of a call is started with. */
export const toolInput = (context: ToolCallContext): ToolInput => {
  const { call, sessionId, input, isChecked, attempt, waiting, edited } = context;
  return {
    call,
    sessionId,
    input,
    isChecked,
    attempt,
    ...(waiting === undefined ? {} : { asked: edited === undefined ? call.input : edited }),
  };
};

export const takeCheck = (_context: ToolCallContext, outcome: CheckOutcome): Partial<ToolCallContext> => {
  switch (outcome.type) {
    case 'settled':
      return { result: outcome.result };
    case 'ready':
      return { input: outcome.input, isChecked: outcome.isChecked, inputHash: outcome.inputHash };
    case 'ask':
      return {};
    default:
      return outcome satisfies never;
  }
};

/** Puts the call before a human. An edit that did not fit leaves the question as it was, with the reason beside it. */
export const askFor = (
  context: ToolCallContext,
  outcome: CheckOutcome | ToolOutcome,
  rules: AgentRules,
): Partial<ToolCallContext> => {
  if (outcome.type !== 'ask') return {};
  const { input, isChecked, inputHash, reason, refusedEdit } = outcome.question;
  if (refusedEdit !== undefined && context.waiting !== undefined) {
    return { isDecided: false, edited: undefined, waiting: { ...context.waiting, refusedEdit } };
  }
  const expiresAt = rules.expireAfter === undefined ? undefined : rules.now() + rules.expireAfter;
  const waiting: CallNeeds = {
    needs: 'approval',
    inputHash,
    ...(input === undefined ? {} : { input }),
    ...(reason === undefined ? {} : { reason }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  return { input: input ?? context.call.input, isChecked, inputHash, isDecided: false, waiting };
};

/** What is settled waits for nobody, and its edit is all that is kept of what ran in place of what the model gave. */
export const enter = ({ edited }: ToolCallContext, phase: CallPhase): Partial<ToolCallContext> =>
  phase === 'settled'
    ? { phase, waiting: undefined, stopping: undefined, ...(edited === undefined ? {} : { input: edited }) }
    : { phase };

/** Puts the call before the application, with the arguments as they were checked, or edited. */
export const needResult = ({ call, input, inputHash }: ToolCallContext): Partial<ToolCallContext> => {
  const isAsGiven = canonicalJson(input) === canonicalJson(call.input);
  return { waiting: { needs: 'result', inputHash, ...(isAsGiven ? {} : { input }) } };
};

export const takeEdit = (event: ApprovalGranted): Partial<ToolCallContext> =>
  event.input === undefined ? { isDecided: true } : { isDecided: true, edited: event.input };

export const reject = ({
  reason,
  by,
}: {
  reason?: string | undefined;
  by?: string | undefined;
}): Partial<ToolCallContext> => ({
  result: { ...rejection(reason), ...(by === undefined ? {} : { by }) },
});

export const answer = (
  context: ToolCallContext,
  { output, by }: { output: unknown; by?: string },
  rules: AgentRules,
): Partial<ToolCallContext> => ({
  result: { ...rules.toResult(context.call, output), ...(by === undefined ? {} : { by }) },
});

/** The call ends without its tool: never started, or left behind while it ran. */
export const abandon = (
  { phase }: ToolCallContext,
  status: 'stopped' | 'cancelled',
  usage?: Usage,
): Partial<ToolCallContext> => {
  const result =
    phase === 'running' || phase === 'awaiting-agent'
      ? leftBehind(status)
      : textResult(status, `Error: the call was ${status} before it started.`);
  return { result: { ...result, ...(usage === undefined ? {} : { usage }) } };
};

export const planRetry = (context: ToolCallContext, rules: AgentRules): Partial<ToolCallContext> => ({
  retryAt: rules.now() + backoff({ factor: 2, ...rules.toolRetry(context.call) }, context.attempt),
});

export const report = ({ call, phase, waiting, nested, result, edited }: ToolCallContext): CallReported => ({
  type: 'call.reported',
  callId: call.callId,
  phase,
  ...(waiting !== undefined && (phase === 'awaiting-decision' || phase === 'awaiting-result') ? { waiting } : {}),
  ...(nested !== undefined && (phase === 'running' || phase === 'awaiting-agent') ? { nested } : {}),
  ...(result === undefined ? {} : { result: edited === undefined ? result : { ...result, edited } }),
});

/** What the agent inside the call is asked, or how the call failed because that is nothing that can be asked. */
export const askAgent = (
  { call, input }: ToolCallContext,
  rules: AgentRules,
): { message: string } | { result: CallResult } => {
  try {
    const message: unknown = rules.agentMessage(call, input);
    if (typeof message === 'string' && message !== '') return { message };
    throw new TypeError(
      `option "message" of tool ${call.tool} must give a text that is not empty, gave ${typeof message}`,
    );
  } catch (error) {
    const text = 'Error: the agent could not be asked.';
    return { result: textResult('failed', text, errorData(error)) };
  }
};

export const takeNested = (nested: NestedState): Partial<ToolCallContext> => ({
  nested,
  phase: nested.isWaiting ? 'awaiting-agent' : 'running',
});

/** What an agent inside the call came to, as the result of the call. */
export const takeAgentResult = (
  context: ToolCallContext,
  turn: TurnResult,
  rules: AgentRules,
): Partial<ToolCallContext> => {
  const { outcome, usage } = turn;
  const failed = (text: string): Partial<ToolCallContext> => ({
    result: { ...textResult('failed', `Error: ${text}`, { name: 'AgentFailed', message: text }), usage },
  });
  if (outcome.type === 'limit' && turn.output === undefined && turn.text === '')
    return failed(`the agent reached its limit "${outcome.limit}" before it had an answer.`);
  switch (outcome.type) {
    case 'answered':
    case 'limit':
      return { result: { ...rules.toResult(context.call, turn.output ?? turn.text), usage } };
    case 'stopped':
      return { result: { ...textResult('stopped', 'Error: the agent was stopped before it had an answer.'), usage } };
    case 'failed':
      return {
        result: { ...textResult('failed', 'Error: the agent failed.', outcome.error), usage },
      };
    case 'refused':
      return failed('the model of the agent refused to answer.');
    case 'tool-calls':
    case 'pending':
      return failed('the agent left calls open.');
    default:
      return outcome satisfies never;
  }
};
