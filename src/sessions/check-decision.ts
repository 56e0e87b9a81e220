import { AgentError } from '../errors.ts';
import { type AgentContext, type Decision, decisionOf } from '../machines/agent-context.ts';
import type { DecisionEvent } from '../machines/tool-call-context.ts';
import { pendingOf } from '../machines/round.ts';
import { canonicalJson, isJson } from '../messages/json.ts';
import type { PendingCall } from '../tools/call.ts';

const known = (pending: readonly PendingCall[]): string =>
  pending.length === 0
    ? 'no call waits'
    : `calls that wait: ${pending.map(({ callId, tool }) => `${callId} (${tool})`).join(', ')}`;

/** The same decision: the same verdict, edit and answer. A reason may be worded anew. */
const isSame = ({ decision, input, output }: Decision, event: DecisionEvent): boolean =>
  decision === decisionOf(event) &&
  (event.type !== 'approval.granted' || canonicalJson(input) === canonicalJson(event.input)) &&
  (event.type !== 'call.result' || canonicalJson(output) === canonicalJson(event.output));

/** The decision as it is now: what the caller does to his objects later is no part of it. `invalid-input` for what is no plain JSON. */
export const copyDecision = (event: DecisionEvent): DecisionEvent => {
  const plain = <T>(value: T, name: string): T => {
    if (isJson(value)) return structuredClone(value);
    throw new AgentError(
      'invalid-input',
      `the ${name} for call ${event.callId} must be plain JSON: no undefined, date or class instance`,
    );
  };
  if (event.type === 'call.result') return { ...event, output: plain(event.output, 'output') };
  if (event.type === 'approval.rejected' || event.input === undefined) return { ...event };
  return { ...event, input: plain(event.input, 'input') };
};

/**
 * R29: true where the decision applies, false where the same one was taken before. Anything else throws and changes nothing:
 * `unknown-call`, `call-settled`, `call-changed` (the arguments are not those that were decided on), `decision-conflict`.
 */
export const checkDecision = (context: AgentContext, event: DecisionEvent): boolean => {
  const pending = pendingOf(context);
  const call = pending.find(({ callId }) => callId === event.callId);
  if (call !== undefined) {
    if (event.type !== 'call.result' && call.needs === 'result') {
      const taken = context.decisions.findLast(({ callId }) => callId === event.callId);
      if (taken !== undefined && isSame(taken, event)) return false;
      throw new AgentError(
        'decision-conflict',
        `call ${event.callId} (${call.tool}) waits for a result, not for an approval; use respond()`,
      );
    }
    if (event.inputHash !== undefined && event.inputHash !== call.inputHash) {
      throw new AgentError(
        'call-changed',
        `call ${event.callId} (${call.tool}) has other arguments than those that were decided on; look at it again`,
      );
    }
    return true;
  }
  const taken = context.decisions.findLast(({ callId }) => callId === event.callId);
  if (taken !== undefined) {
    if (isSame(taken, event)) return false;
    throw new AgentError(
      'decision-conflict',
      `call ${event.callId} (${taken.tool}) was ${taken.decision} already; the first decision holds`,
    );
  }
  const isOpen =
    context.round?.calls.some(({ callId, phase }) => callId === event.callId && phase !== 'settled') ?? false;
  if (isOpen) {
    throw new AgentError('decision-conflict', `call ${event.callId} does not wait for anybody; ${known(pending)}`);
  }
  const wasCalled = [...context.messages, ...(context.round === null ? [] : [context.round.reply])].some(
    ({ content }) =>
      typeof content !== 'string' &&
      content.some((part) => part.type === 'tool-call' && part.toolCallId === event.callId),
  );
  if (wasCalled) {
    throw new AgentError(
      'call-settled',
      `call ${event.callId} is settled; a decision comes too late; ${known(pending)}`,
    );
  }
  throw new AgentError(
    'unknown-call',
    `there is no call ${JSON.stringify(event.callId)} in this session; ${known(pending)}`,
  );
};
