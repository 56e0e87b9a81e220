import type { CheckOutcome } from '../actors/check.ts';
import type { ToolOutcome } from '../actors/tool.ts';
import type { JsonValue } from '../messages/json.ts';
import {
  type CallNeeds,
  type CallPhase,
  type CallResult,
  type CallSpec,
  type CallStatus,
  rejection,
  textResult,
} from '../tools/call.ts';
import { type AgentRules, backoff } from './rules.ts';

export interface ToolCallInput {
  call: CallSpec;
  sessionId: string;
  /** The call is not to be run at all, and this is why (R5, R18, R22). */
  refusal?: CallResult;
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
  edited?: JsonValue | undefined;
  attempt: number;
  retryAt?: number;
  waiting?: CallNeeds;
  stopping?: { reason?: string };
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
  | { type: 'call.stop'; reason?: string }
  | { type: 'call.cancel'; callId: string }
  /** Asks the call to say again where it is. */
  | { type: 'call.report' };

/** What a call tells its round. */
export interface CallReported {
  type: 'call.reported';
  callId: string;
  phase: CallPhase;
  waiting?: CallNeeds;
  result?: CallResult;
}

export const initialToolCall = ({ call, sessionId, refusal }: ToolCallInput): ToolCallContext => ({
  call,
  sessionId,
  phase: 'validating',
  input: call.input,
  isChecked: false,
  inputHash: '',
  isDecided: false,
  attempt: 0,
  ...(refusal === undefined ? {} : { result: refusal }),
});

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
  result: { ...rules.toResult(context.call.tool, output), ...(by === undefined ? {} : { by }) },
});

/** The call ends without its tool: never started, or left behind while it ran. */
export const abandon = (context: ToolCallContext, status: CallStatus): Partial<ToolCallContext> => {
  const verb = status === 'cancelled' ? 'cancelled' : 'stopped';
  const text =
    context.phase === 'running'
      ? `Error: the call was ${verb} while it ran; its outcome is unknown.`
      : `Error: the call was ${verb} before it started.`;
  return { result: textResult(status, text) };
};

export const planRetry = (context: ToolCallContext, rules: AgentRules): Partial<ToolCallContext> => ({
  retryAt: rules.now() + backoff({ factor: 2, ...rules.toolRetry(context.call.tool) }, context.attempt),
});

export const report = ({ call, phase, waiting, result, edited }: ToolCallContext): CallReported => ({
  type: 'call.reported',
  callId: call.callId,
  phase,
  ...(waiting !== undefined && (phase === 'awaiting-decision' || phase === 'awaiting-result') ? { waiting } : {}),
  ...(result === undefined ? {} : { result: edited === undefined ? result : { ...result, edited } }),
});
