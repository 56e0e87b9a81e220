import type { AnyActorRef, StateValue } from 'xstate';
import type { AgentContext, Decision } from '../machines/agent-context.ts';
import type { CallRecord, Round } from '../machines/round.ts';
import type { ToolCallContext } from '../machines/tool-call-context.ts';
import type { Turn } from '../machines/turn.ts';
import type { Message } from '../messages/message.ts';
import type { CallResult, CallSpec } from '../tools/call.ts';
import { type Change, difference } from './change.ts';
import { writeDecisions, writeInside as decisionsInside } from './decisions.ts';
import {
  askedInputs,
  callSpecs,
  likelyCall,
  likelyNested,
  likelyOutput,
  likelyResults,
  likelyStopping,
  withOwn,
} from './derived.ts';
import { writeOutcome } from './error-limit.ts';
import { withoutErrorText } from './error-text.ts';
import { withoutGiver } from './given-by.ts';
import { withoutHashes, withoutWaitingHash } from './input-hashes.ts';
import { withoutPrompt } from './prompt.ts';
import { writeSaidInside } from './said-inside.ts';
import type { StoredAgent, StoredCall } from './stored-agent.ts';

/** An actor as it is looked at here: one that lives, or what XState had persisted of one. */
export interface Seen {
  src: string;
  value: StateValue;
  context: unknown;
  children: Readonly<Record<string, Seen>>;
  /** Of an effect: what it was given, and what it came to. */
  input?: unknown;
  known?: unknown;
}

interface LiveSnapshot {
  status: string;
  value: StateValue;
  context: unknown;
  children?: Record<string, AnyActorRef>;
  input?: unknown;
  output?: unknown;
  known?: unknown;
}

export const seeActor = (actor: AnyActorRef): Seen => {
  const { status, value, context, children, input, output, known } = actor.getSnapshot() as LiveSnapshot;
  const outcome = status === 'done' ? output : known;
  const seen: Record<string, Seen> = {};
  for (const [id, child] of Object.entries(children ?? {})) seen[id] = seeActor(child);
  return {
    src: typeof actor.src === 'string' ? actor.src : '',
    value,
    context,
    children: seen,
    input,
    known: children === undefined ? outcome : undefined,
  };
};

/** True where nothing has happened between two looks at an actor: what a machine leaves alone it leaves the same object. */
export const isSameSeen = (one: Seen, other: Seen): boolean => {
  if (one.context !== other.context || one.value !== other.value) return false;
  if (one.input !== other.input || one.known !== other.known) return false;
  const ids = Object.keys(one.children);
  if (ids.length !== Object.keys(other.children).length) return false;
  for (const id of ids) {
    const [before, after] = [one.children[id], other.children[id]];
    if (before === undefined || after === undefined || !isSameSeen(before, after)) return false;
  }
  return true;
};

const orEqual = (change: Change | undefined): Change => change ?? {};

const knownOf = ({ children }: Seen): { known?: Record<string, unknown> } => {
  let known: Record<string, unknown> | undefined;
  for (const [id, child] of Object.entries(children)) if (child.known !== undefined) (known ??= {})[id] = child.known;
  return known === undefined ? {} : { known };
};

const insideOf = (call: Seen | undefined): Seen | undefined => call?.children['agent'];

const toldBy = (given: CallResult, callId: string, decisions: readonly Decision[]): CallResult => {
  const result = withoutGiver(given, callId, decisions);
  const { error, output } = result;
  const told = error === undefined ? undefined : withoutErrorText(error, output);
  return told === undefined || told === error ? result : { ...result, error: told };
};

const writeRecord = (
  record: CallRecord,
  asked: unknown,
  inside: Seen | undefined,
  decisions: readonly Decision[],
): unknown => {
  const { callId, nested, waiting, result } = record;
  const told = result === undefined ? undefined : toldBy(result, callId, decisions);
  const needs = waiting === undefined ? undefined : withoutWaitingHash(waiting, asked);
  if (nested === undefined && needs?.input === undefined && needs === waiting && told === result) return record;
  return {
    ...record,
    ...(told === undefined ? {} : { result: told }),
    ...(nested === undefined
      ? {}
      : { nested: orEqual(difference(likelyNested(inside?.context as AgentContext | undefined), nested)) }),
    ...(needs === undefined
      ? {}
      : {
          waiting: needs.input === undefined ? needs : { ...needs, input: orEqual(difference(asked, needs.input)) },
        }),
  };
};

const writeRound = (round: Round, calls: Readonly<Record<string, Seen>>, decisions: readonly Decision[]): unknown => {
  const asked = askedInputs(round);
  const records = round.calls.map((record) =>
    writeRecord(record, asked.get(record.callId), insideOf(calls[record.callId]), decisions),
  );
  // The same object as before where nothing is written in another way: it need not be looked into to see that it has not changed.
  return records.every((record, index) => record === round.calls[index]) ? round : { ...round, calls: records };
};

const writeLast = (
  lastRound: readonly CallRecord[],
  messages: readonly Message[],
  decisions: readonly Decision[],
): unknown => {
  const results = likelyResults(messages);
  return lastRound.map((record) => ({
    ...record,
    result: orEqual(
      difference(
        results.get(record.callId) ?? null,
        record.result === undefined ? null : toldBy(record.result, record.callId, decisions),
      ),
    ),
  }));
};

const writeTurn = (turn: Turn, messages: readonly Message[]): unknown => {
  const outcome = writeOutcome(turn, messages);
  if (turn.output === undefined) return outcome === turn.outcome ? turn : { ...turn, outcome };
  return { ...turn, outcome, output: orEqual(difference(likelyOutput(turn, messages), turn.output)) };
};

const writeContext = (
  { messages, sessionId: _id, ...context }: AgentContext,
  { children }: Seen,
  calls: Record<string, StoredCall>,
): Record<string, unknown> => {
  const { round, lastRound, turn, decisions } = context;
  const written: Record<string, unknown> = context;
  if (round !== null) written['round'] = writeRound(round, children, decisions);
  written['decisions'] = writeSaidInside(writeDecisions(decisions), calls);
  if (lastRound.length > 0) written['lastRound'] = writeLast(lastRound, messages, decisions);
  written['turn'] = writeTurn(turn, messages);
  return written;
};

/** An agent inside a call, without what its call and the agent above give it. */
const writeInside = (
  seen: Seen,
  { decisions, turn }: AgentContext,
  { callId, input }: CallSpec,
): StoredCall['agent'] => {
  const { context: own, ...written } = writeAgent(seen);
  const inside = seen.context as AgentContext;
  const { stopping } = inside.turn;
  const { callPrefix: _prefix, singleTurn: _single, ...context } = own;
  return {
    ...written,
    context: {
      ...context,
      decisions: decisionsInside(inside.decisions, decisions, callId),
      ...(stopping === undefined
        ? {}
        : {
            turn: {
              ...(context['turn'] as object),
              stopping: orEqual(difference(likelyStopping(turn.stopping), stopping)),
            },
          }),
    },
    messages: withoutPrompt(messagesOf(seen), input),
  };
};

const writeCall = (call: Seen, likely: ToolCallContext, above: AgentContext): StoredCall => {
  const own = call.context as ToolCallContext;
  const context = difference(withoutHashes(withOwn(likely, own)), withoutHashes(own));
  const inside = insideOf(call);
  return {
    state: call.value,
    ...(context === undefined ? {} : { context }),
    ...(inside === undefined ? {} : { agent: writeInside(inside, above, likely.call) as StoredCall['agent'] & {} }),
    ...knownOf(call),
  };
};

export const messagesOf = (agent: Seen): Message[] => (agent.context as AgentContext).messages;

/** The state of an agent without its id and its messages. It aliases what it was made of: turn it into text before anything else happens. */
export const writeAgent = (seen: Seen): StoredAgent => {
  const context = seen.context as AgentContext;
  const { round, turn, sessionId } = context;
  const specs = round === null ? undefined : callSpecs(round, turn);
  const written = (round?.calls ?? []).flatMap((record): [string, StoredCall][] => {
    const call = seen.children[record.callId];
    const spec = specs?.get(record.callId);
    if (call === undefined || spec === undefined) return [];
    return [
      [record.callId, writeCall(call, likelyCall(record, spec, { sessionId, stopping: turn.stopping }), context)],
    ];
  });
  const calls = Object.fromEntries(written);
  const deadline = (seen.children['deadline']?.input as { at?: unknown } | undefined)?.at;
  return {
    state: seen.value,
    context: writeContext(context, seen, calls),
    ...(typeof deadline === 'number' ? { deadline } : {}),
    ...(written.length === 0 ? {} : { calls }),
    ...knownOf(seen),
  };
};
