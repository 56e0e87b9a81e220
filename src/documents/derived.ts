import type { AgentContext } from '../machines/agent-context.ts';
import { type CallRecord, type Round, pendingOf, specsOf } from '../machines/round.ts';
import type { ToolCallContext } from '../machines/tool-call-context.ts';
import type { Turn } from '../machines/turn.ts';
import { type Message, callsOf, partsOf, textOf } from '../messages/message.ts';
import type { JsonValue } from '../messages/json.ts';
import { hashOf } from './input-hashes.ts';
import type { CallNeeds, CallPhase, CallResult, CallSpec, NestedState } from '../tools/call.ts';

// What a part of a session most likely is, going by the other parts: stored is only how it differs.

/** What the agent above says of a call: its id, and that it is to stop. */
export interface AboveCall {
  sessionId: string;
  stopping: Turn['stopping'];
}

/** What a call or an agent inside it was told of a stop. */
export const likelyStopping = (stopping: Turn['stopping']): { reason?: string } | undefined => {
  if (stopping === undefined) return undefined;
  return stopping.reason === undefined ? {} : { reason: stopping.reason };
};

/** The context of a call, going by its round: `call` is what the round gives it. */
export const likelyCall = (record: CallRecord, call: CallSpec, { sessionId, stopping }: AboveCall): ToolCallContext => {
  const { phase, waiting, nested } = record;
  const told = phase === 'running' && nested === undefined ? likelyStopping(stopping) : undefined;
  const likely: ToolCallContext = {
    call,
    sessionId,
    phase,
    input: call.input,
    isChecked: false,
    inputHash: waiting?.inputHash ?? '',
    isDecided: false,
    mayStart: false,
    attempt: 0,
  };
  // What is stored may have null there: that is told by those who check it.
  const { edited, ...result } = record.result ?? { edited: undefined };
  if (edited !== undefined) likely.edited = edited;
  if (told !== undefined) likely.stopping = told;
  if (waiting !== undefined) likely.waiting = waiting;
  if (nested !== undefined) likely.nested = nested;
  if (record.result !== undefined) likely.result = result as CallResult;
  return likely;
};

/**
 * The same where the call knows more than its round: `waiting` is kept after the decision, `edited` from it on, and what runs follows from both.
 */
export const withOwn = (
  likely: ToolCallContext,
  own: { phase: CallPhase; waiting?: CallNeeds | undefined; edited?: JsonValue | undefined },
): ToolCallContext => {
  const { waiting, edited, phase } = own;
  if (waiting === undefined && edited === undefined) return likely;
  const { call } = likely;
  const asked = waiting?.input ?? call.input;
  const isAsked = edited === undefined || phase === 'awaiting-decision' || phase === 'validating';
  return {
    ...likely,
    inputHash: likely.inputHash || (waiting === undefined || !isAsked ? '' : hashOf(asked)),
    ...(waiting === undefined || likely.waiting !== undefined ? {} : { waiting: likelyWaiting(call) }),
    ...(edited === undefined || likely.edited !== undefined ? {} : { edited: asked as JsonValue }),
    input: isAsked ? asked : edited,
  };
};

/** What a call waited for, where its round does not say it any more. */
export const likelyWaiting = ({ input }: CallSpec): CallNeeds => ({ input, inputHash: hashOf(input) }) as CallNeeds;

/** What the round gives to each of its calls. */
export const callSpecs = (round: Round, turn: Turn): ReadonlyMap<string, CallSpec> =>
  new Map(specsOf(round, turn.iterations + 1).map((spec) => [spec.callId, spec]));

/** What an agent inside a call has told the call. */
export const likelyNested = (inside: Pick<AgentContext, 'round'> | undefined): NestedState => {
  const pending = inside === undefined ? [] : pendingOf(inside);
  return { pending, checking: [], isWaiting: pending.length > 0 };
};

/** The arguments with which each call was asked. */
export const askedInputs = (round: Round): ReadonlyMap<string, unknown> =>
  new Map(callsOf(round.reply).map((part) => [part.toolCallId, part.input]));

/** The results of the round that closed last, going by the two messages that it became. */
export const likelyResults = (messages: readonly Message[]): ReadonlyMap<string, CallResult> => {
  const [reply, results] = messages.slice(-2);
  if (results?.role !== 'tool' || reply === undefined) return new Map();
  const edits = new Map(
    partsOf(reply).flatMap((part) =>
      part.type === 'tool-call' && part.providerOptions?.['agentchart']?.['originalInput'] !== undefined
        ? [[part.toolCallId, part.input]]
        : [],
    ),
  );
  return new Map(
    results.content.map((part) => {
      const status = part.providerOptions?.['agentchart']?.['status'] ?? 'ok';
      const edited = edits.get(part.toolCallId);
      const result = { status, output: part.output, ...(edited === undefined ? {} : { edited }) };
      return [part.toolCallId, result as CallResult];
    }),
  );
};

/** The structured answer of a turn, going by the history that it ends with. */
export const likelyOutput = ({ outcome }: Turn, messages: readonly Message[]): unknown => {
  const callId = outcome !== undefined && 'callId' in outcome ? outcome.callId : undefined;
  if (callId !== undefined) {
    const part = partsOf(messages.at(-2) ?? { role: 'system', content: '' }).find(
      (each) => each.type === 'tool-call' && each.toolCallId === callId,
    );
    return part?.type === 'tool-call' ? part.input : null;
  }
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return null;
  try {
    return JSON.parse(textOf(last));
  } catch {
    return null;
  }
};
