import { type JsonValue, canonicalJson } from '../messages/json.ts';
import {
  type AssistantMessage,
  type Message,
  type ToolCallPart,
  type ToolMessage,
  callsOf,
} from '../messages/message.ts';
import { withOwnOptions } from '../messages/own-options.ts';
import {
  type CallNeeds,
  type CallPhase,
  type CallResult,
  type CallSpec,
  type NestedState,
  type PendingCall,
  type ToolChange,
  type ToolRef,
  isError,
  refOf,
  textResult,
} from '../tools/call.ts';

/** A call as its round sees it. The call's own actor holds the rest. */
export interface CallRecord extends Pick<CallSpec, 'callId' | 'tool' | 'toolKey'> {
  phase: CallPhase;
  waiting?: CallNeeds;
  /** Of an agent inside the call. */
  nested?: NestedState;
  result?: CallResult;
}

/** One reply with calls, kept beside the history until every call has its result (R6). */
export interface Round {
  reply: AssistantMessage;
  calls: CallRecord[];
}

const isSameCall = (one: ToolCallPart, other: ToolCallPart): boolean =>
  one.toolName === other.toolName && canonicalJson(one.input) === canonicalJson(other.input);

/**
 * Gives each call an id of ours and keeps the provider's beside it (R8). The same id, tool and arguments twice in one reply is one
 * call that a server repeated; the same id with other arguments is another call.
 */
export const openRound = (
  reply: AssistantMessage,
  number: number,
  { changes = [], prefix = '' }: { changes?: readonly ToolChange[]; prefix?: string } = {},
): Round => {
  const running = new Set(callsOf(reply));
  const seen = new Map<string, ToolCallPart[]>();
  const calls: CallRecord[] = [];
  const content: Exclude<AssistantMessage['content'], string> = [];
  for (const part of typeof reply.content === 'string' ? [] : reply.content) {
    if (part.type !== 'tool-call' || !running.has(part)) {
      content.push(part);
      continue;
    }
    if (part.toolCallId !== '') {
      const twins = seen.get(part.toolCallId) ?? [];
      if (twins.some((twin) => isSameCall(twin, part))) continue;
      seen.set(part.toolCallId, [...twins, part]);
    }
    const callId = `${prefix}call_${number}_${calls.length}`;
    calls.push({ callId, ...refOf(part.toolName, changes), phase: 'validating' });
    const named = part.toolCallId === '' ? part : withOwnOptions(part, { providerCallId: part.toolCallId });
    content.push({ ...named, toolCallId: callId });
  }
  return { reply: { ...reply, content }, calls };
};

/** The calls of a round as their actors get them. */
export const specsOf = (round: Round, iteration: number): CallSpec[] => {
  const inputs = new Map(callsOf(round.reply).map((part) => [part.toolCallId, part.input]));
  return round.calls.map(({ callId, tool, toolKey }, index) => ({
    callId,
    tool,
    ...(toolKey === undefined ? {} : { toolKey }),
    input: inputs.get(callId),
    index,
    count: round.calls.length,
    iteration,
  }));
};

const changed = (call: CallRecord, change: Partial<CallRecord>): CallRecord => {
  if (call.waiting === undefined && call.nested === undefined) return { ...call, ...change };
  const { waiting: _over, nested: _before, ...rest } = call;
  return { ...rest, ...change };
};

const changeCall = (round: Round, callId: string, change: Partial<CallRecord>): Round => {
  const at = round.calls.findIndex((call) => call.callId === callId);
  const call = round.calls[at];
  return call === undefined ? round : { ...round, calls: round.calls.with(at, changed(call, change)) };
};

/** Where a call says that it is. */
export const takeReport = (
  round: Round,
  { callId, phase, waiting, nested, result }: Pick<CallRecord, 'callId' | 'phase' | 'waiting' | 'nested' | 'result'>,
): Round => {
  const change: Partial<CallRecord> = { phase };
  if (waiting !== undefined) change.waiting = waiting;
  if (nested !== undefined) change.nested = nested;
  if (result !== undefined) change.result = result;
  return changeCall(round, callId, change);
};

/** The calls of these ids are at work. */
export const runCalls = (round: Round, callIds: readonly string[]): Round => {
  const started = new Set(callIds);
  const calls = round.calls.map((call) => (started.has(call.callId) ? changed(call, { phase: 'running' }) : call));
  return { ...round, calls };
};

export const isWaiting = ({ phase }: Pick<CallRecord, 'phase'>): boolean =>
  phase === 'awaiting-decision' || phase === 'awaiting-result' || phase === 'awaiting-agent';

/** The call of this id, or the one inside which an agent made it. */
export const ownerOf = (round: Round | null, callId: string): CallRecord | undefined =>
  round?.calls.find((call) => call.callId === callId) ??
  // Only ids of calls inside of calls hold this.
  (callId.includes('-') ? round?.calls.find((call) => callId.startsWith(`${call.callId}-`)) : undefined);

/** The calls that wait for somebody, also those of agents inside calls. */
export const pendingOf = ({ round }: { round: Round | null }): PendingCall[] => {
  if (round === null || !round.calls.some((call) => call.nested !== undefined || call.waiting !== undefined)) return [];
  const asked = new Map(callsOf(round.reply).map((part) => [part.toolCallId, part.input]));
  return round.calls.flatMap(({ callId, tool, phase, waiting, nested }): PendingCall[] => {
    if (nested !== undefined) return nested.pending.map((call) => ({ ...call, path: [callId, ...call.path] }));
    if (waiting === undefined || !isWaiting({ phase })) return [];
    return [{ callId, path: [], tool, ...waiting, input: waiting.input ?? asked.get(callId) }];
  });
};

export const allSettled = (round: Round): boolean => round.calls.every((call) => call.phase === 'settled');

/** The ids of the calls that are not settled. */
export const openCalls = ({ round }: { round: Round | null }): string[] =>
  (round?.calls ?? []).filter((call) => call.phase !== 'settled').map((call) => call.callId);

/** True for the only call that is not settled. */
export const isLastOpen = (round: Round, callId: string): boolean =>
  round.calls.every((call) => (call.phase === 'settled') !== (call.callId === callId));

export interface Scheduling {
  concurrency: number;
  hold: 'all' | 'gated';
  isSequential(ref: ToolRef): boolean;
  isAnsweredOutside(ref: ToolRef): boolean;
}

/** The queued calls that may start now, in call order: R7 (at most `concurrency`, barriers), R26 (`hold`). */
export const startable = (round: Round, rules: Scheduling): string[] => {
  if (!round.calls.some((call) => call.phase === 'queued')) return [];
  const isHeld =
    rules.hold === 'all' &&
    round.calls.some((call) => call.phase === 'validating' || call.phase === 'awaiting-decision');
  if (isHeld) return [];
  let free = rules.concurrency - round.calls.filter((call) => call.phase === 'running').length;
  let allBeforeSettled = true;
  const ids: string[] = [];
  for (const call of round.calls) {
    const isBarrier = rules.isSequential(call);
    if (call.phase === 'queued') {
      const isOutside = rules.isAnsweredOutside(call);
      if ((isOutside || free > 0) && (!isBarrier || allBeforeSettled)) {
        ids.push(call.callId);
        if (!isOutside) free -= 1;
      }
    }
    if (call.phase !== 'settled') {
      allBeforeSettled = false;
      if (isBarrier) break;
    }
  }
  return ids;
};

/** The calls of a new round that may start before anything else about them is known: nobody is to be asked about them. */
export const startableAtOnce = (round: Round, rules: Scheduling, isPlain: (call: CallRecord) => boolean): string[] =>
  startable(
    { ...round, calls: round.calls.map((call) => (isPlain(call) ? { ...call, phase: 'queued' } : call)) },
    rules,
  );

/** True when nothing but people is outstanding: nothing validates, runs or could start, and something waits. */
export const onlyPeopleLeft = (round: Round, rules: Scheduling): boolean =>
  !round.calls.some(({ phase }) => phase === 'validating' || phase === 'running') &&
  round.calls.some(isWaiting) &&
  startable(round, rules).length === 0;

/** Settles every call that has no result yet in the same way. */
export const settleOpen = (round: Round, result: (call: CallRecord) => CallResult): Round => ({
  ...round,
  calls: round.calls.map((call) =>
    call.result === undefined ? { callId: call.callId, tool: call.tool, phase: 'settled', result: result(call) } : call,
  ),
});

const withEdits = (round: Round): AssistantMessage => {
  const edits = new Map(round.calls.map((call) => [call.callId, call.result?.edited]));
  if (typeof round.reply.content === 'string' || ![...edits.values()].some((edit) => edit !== undefined))
    return round.reply;
  return {
    ...round.reply,
    content: round.reply.content.map((part) => {
      const edit = part.type === 'tool-call' ? edits.get(part.toolCallId) : undefined;
      if (part.type !== 'tool-call' || edit === undefined) return part;
      return { ...withOwnOptions(part, { originalInput: part.input as JsonValue }), input: edit };
    }),
  };
};

/** The two messages that a round becomes: the reply, and one tool message with a result per call, in call order (R6). */
export const messagesOf = (round: Round): Message[] => {
  const results: ToolMessage = {
    role: 'tool',
    content: round.calls.map(({ callId, tool, result }) => {
      const { status, output } = result ?? textResult('outcome-unknown', 'Error: the outcome is unknown.');
      return {
        type: 'tool-result',
        toolCallId: callId,
        toolName: tool,
        output,
        ...(status === 'ok' ? {} : { providerOptions: { agentchart: { status } } }),
      };
    }),
  };
  return results.content.length === 0 ? [round.reply] : [withEdits(round), results];
};

/** R19: a round fails when at least one of its results is an error. */
export const hasFailed = (round: Round): boolean =>
  round.calls.some((call) => call.result !== undefined && isError(call.result));

/** What an agent inside a call tells the call: who waits in it, also in agents further down. */
export const nestedState = (round: Round | null, rules: Scheduling): NestedState => ({
  pending: pendingOf({ round }),
  checking: (round?.calls ?? []).flatMap(({ callId, phase, nested }) =>
    phase === 'validating' ? [callId] : (nested?.checking ?? []),
  ),
  isWaiting: round !== null && onlyPeopleLeft(round, rules),
});
