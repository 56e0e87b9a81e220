import { AgentError } from '../errors.ts';
import { type AgentContext, type Decision, decisionOf } from '../machines/agent-context.ts';
import { digest } from '../machines/digest.ts';
import type { DecisionEvent } from '../machines/tool-call-context.ts';
import { pendingOf } from '../machines/round.ts';
import { type JsonValue, canonicalJson, isJson, maxDepth } from '../messages/json.ts';
import type { PendingCall } from '../tools/call.ts';
import { checkCallId } from './check-options.ts';
import { type Bound, type Shape, checkGiven, isA, oneOf } from './option-bounds.ts';
import type { ApproveOptions, RejectOptions } from './session.ts';

const waiting = (pending: readonly PendingCall[]): string =>
  pending.length === 0
    ? 'no call waits'
    : `calls that wait: ${pending.map(({ callId, tool }) => `${callId} (${tool})`).join(', ')}`;

/** What is to be remembered, and was not. A decision that comes again without `remember` takes nothing back. */
const asksForMore = (taken: Decision, event: DecisionEvent): boolean =>
  event.type !== 'call.result' && event.remember !== undefined && event.remember !== taken.remembered;

/** The same decision: the same verdict, edit and answer, and no more to remember. A reason may be worded anew. */
const isSame = (taken: Decision, event: DecisionEvent): boolean => {
  const given =
    event.type === 'approval.granted' ? event.input : event.type === 'call.result' ? event.output : undefined;
  return (
    taken.decision === decisionOf(event) &&
    !asksForMore(taken, event) &&
    taken.digest === (given === undefined ? undefined : digest(canonicalJson(given)))
  );
};

const text = isA('string');
const remember = oneOf('tool', 'input');
/** `input` and the output are looked at by themselves: what is no plain JSON is `invalid-input`. */
const anything: Bound = { says: 'anything', holds: () => true };

const known = {
  'approval.granted': { input: anything, remember, by: text, inputHash: text },
  'approval.rejected': { reason: text, remember, by: text, inputHash: text },
  'call.result': { by: text, inputHash: text },
} satisfies Record<DecisionEvent['type'], Shape>;

/** By which method of a session each is given. */
export const decisionMethods = {
  'approval.granted': 'approve',
  'approval.rejected': 'reject',
  'call.result': 'respond',
} as const;

const plain = (value: unknown, what: string, callId: string): JsonValue => {
  if (isJson(value)) return structuredClone(value);
  throw new AgentError(
    'invalid-input',
    `the ${what} for call ${callId} must be plain JSON of at most ${maxDepth} levels: no undefined, date or class instance`,
  );
};

/** What a caller may give beside the call; which of it a decision takes is said by `known`. */
export type DecisionGiven = ApproveOptions & RejectOptions;

/**
 * A decision made of known fields alone: what a caller passes on from elsewhere never chooses the event or the call, and what he does
 * to his objects later is no part of it. Throws `invalid-option` for a field that nobody knows or of a wrong type, `unknown-call` for an id that is no string, `invalid-input`
 * for what is no plain JSON.
 */
export const decisionFrom = (
  type: DecisionEvent['type'],
  callId: string,
  given: DecisionGiven = {},
  output?: unknown,
): DecisionEvent => {
  checkCallId(callId, decisionMethods[type]);
  checkGiven(given, known[type], decisionMethods[type]);
  const { by, inputHash, input, reason } = given;
  const who = { callId, ...(by === undefined ? {} : { by }), ...(inputHash === undefined ? {} : { inputHash }) };
  if (type === 'call.result') return { type, ...who, output: plain(output, 'output', callId) };
  const kept = given.remember === undefined ? {} : { remember: given.remember };
  if (type === 'approval.rejected') return { type, ...who, ...kept, ...(reason === undefined ? {} : { reason }) };
  return { type, ...who, ...kept, ...(input === undefined ? {} : { input: plain(input, 'input', callId) }) };
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
    throw new AgentError('decision-conflict', `call ${event.callId} does not wait for anybody; ${waiting(pending)}`);
  }
  const wasCalled = [...context.messages, ...(context.round === null ? [] : [context.round.reply])].some(
    ({ content }) =>
      typeof content !== 'string' &&
      content.some((part) => part.type === 'tool-call' && part.toolCallId === event.callId),
  );
  if (wasCalled) {
    throw new AgentError(
      'call-settled',
      `call ${event.callId} is settled; a decision comes too late; ${waiting(pending)}`,
    );
  }
  throw new AgentError(
    'unknown-call',
    `there is no call ${JSON.stringify(event.callId)} in this session; ${waiting(pending)}`,
  );
};
