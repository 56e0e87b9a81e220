import type { AnyActorRef, StateValue } from 'xstate';
import type { AgentContext } from '../machines/agent-context.ts';
import type { CallRecord, Round } from '../machines/round.ts';
import type { ToolCallContext } from '../machines/tool-call-context.ts';
import type { Message } from '../messages/message.ts';
import type { CallResult } from '../tools/call.ts';
import { type Change, difference } from './change.ts';
import { askedInputs, callSpecs, likelyCall, likelyNested, likelyOutput, likelyResults, withOwn } from './derived.ts';
import { withoutPrompt } from './prompt.ts';
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
  return {
    src: typeof actor.src === 'string' ? actor.src : '',
    value,
    context,
    children: Object.fromEntries(Object.entries(children ?? {}).map(([id, child]) => [id, seeActor(child)])),
    input,
    ...(outcome === undefined || children !== undefined ? {} : { known: outcome }),
  };
};

const orEqual = (change: Change | undefined): Change => change ?? {};

const knownOf = ({ children }: Seen): { known?: Record<string, unknown> } => {
  const known = Object.entries(children).flatMap(([id, child]) =>
    child.known === undefined ? [] : [[id, child.known]],
  );
  return known.length === 0 ? {} : { known: Object.fromEntries(known) as Record<string, unknown> };
};

const insideOf = (call: Seen | undefined): Seen | undefined => call?.children['agent'];

/** With `detailedErrors` the model reads what was thrown: its words are kept there alone, and here how many they are. */
const withoutErrorText = (result: CallResult): unknown => {
  const { output, error } = result;
  if (output.type !== 'error-text' || error === undefined || error.message === '') return result;
  if (!output.value.endsWith(error.message)) return result;
  return { ...result, error: { ...error, message: '', length: error.message.length } };
};

const writeRecord = (record: CallRecord, asked: unknown, inside: Seen | undefined): unknown => {
  const { nested, waiting, result } = record;
  const told = result === undefined ? undefined : withoutErrorText(result);
  if (nested === undefined && waiting?.input === undefined && told === result) return record;
  return {
    ...record,
    ...(told === undefined ? {} : { result: told }),
    ...(nested === undefined
      ? {}
      : { nested: orEqual(difference(likelyNested(inside?.context as AgentContext | undefined), nested)) }),
    ...(waiting?.input === undefined
      ? {}
      : { waiting: { ...waiting, input: orEqual(difference(asked, waiting.input)) } }),
  };
};

const writeRound = (round: Round, calls: Readonly<Record<string, Seen>>): unknown => {
  const asked = askedInputs(round);
  const records = round.calls.map((record) =>
    writeRecord(record, asked.get(record.callId), insideOf(calls[record.callId])),
  );
  // The same object as before where nothing is written in another way: it need not be looked into to see that it has not changed.
  return records.every((record, index) => record === round.calls[index]) ? round : { ...round, calls: records };
};

const writeContext = (
  { messages, sessionId: _id, ...context }: AgentContext,
  { children }: Seen,
): Record<string, unknown> => {
  const { round, lastRound, turn } = context;
  const results = lastRound.length === 0 ? undefined : likelyResults(messages);
  return {
    ...context,
    round: round === null ? null : writeRound(round, children),
    ...(results === undefined
      ? {}
      : {
          lastRound: lastRound.map((record) => ({
            ...record,
            result: orEqual(
              difference(
                results.get(record.callId) ?? null,
                record.result === undefined ? null : withoutErrorText(record.result),
              ),
            ),
          })),
        }),
    ...(turn.output === undefined
      ? {}
      : { turn: { ...turn, output: orEqual(difference(likelyOutput(turn, messages), turn.output)) } }),
  };
};

const writeCall = (call: Seen, likely: ToolCallContext): StoredCall => {
  const context = difference(withOwn(likely, call.context as ToolCallContext), call.context);
  const inside = insideOf(call);
  const written = inside === undefined ? undefined : writeAgent(inside);
  const { callPrefix: _prefix, singleTurn: _single, ...rest } = written?.context ?? {};
  return {
    state: call.value,
    ...(context === undefined ? {} : { context }),
    ...(inside === undefined || written === undefined
      ? {}
      : { agent: { ...written, context: rest, messages: withoutPrompt(messagesOf(inside), likely.call.input) } }),
    ...knownOf(call),
  };
};

export const messagesOf = (agent: Seen): Message[] => (agent.context as AgentContext).messages;

/** The state of an agent without its id and its messages. It aliases what it was made of: turn it into text before anything else happens. */
export const writeAgent = (seen: Seen): StoredAgent => {
  const context = seen.context as AgentContext;
  const { round, turn, sessionId } = context;
  const specs = round === null ? undefined : callSpecs(round, turn);
  const calls = (round?.calls ?? []).flatMap((record): [string, StoredCall][] => {
    const call = seen.children[record.callId];
    const spec = specs?.get(record.callId);
    if (call === undefined || spec === undefined) return [];
    return [[record.callId, writeCall(call, likelyCall(record, spec, sessionId))]];
  });
  const deadline = (seen.children['deadline']?.input as { at?: unknown } | undefined)?.at;
  return {
    state: seen.value,
    context: writeContext(context, seen),
    ...(typeof deadline === 'number' ? { deadline } : {}),
    ...(calls.length === 0 ? {} : { calls: Object.fromEntries(calls) }),
    ...knownOf(seen),
  };
};
