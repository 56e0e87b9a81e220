import type { AgentContext } from '../machines/agent-context.ts';
import type { CallRecord, Round } from '../machines/round.ts';
import { isPlainObject } from '../messages/json.ts';
import type { CallResult } from '../tools/call.ts';
import { applied } from './change.ts';
import { askedInputs, likelyNested, likelyOutput, likelyResults } from './derived.ts';
import { withPrompt } from './prompt.ts';
import type { StoredAgent, StoredCall } from './stored-agent.ts';

/** What an agent knows beside what is stored as its state. */
export type Known = Pick<AgentContext, 'sessionId' | 'messages'> & Partial<AgentContext>;

/** What a call gives to the agent inside it. */
export const withinCall = (
  callId: string,
  { messages }: StoredCall['agent'] & {},
  { sessionId, input }: { sessionId: string; input: unknown },
): Known => ({
  sessionId: `${sessionId}/${callId}`,
  callPrefix: `${callId}-`,
  singleTurn: true,
  messages: withPrompt(messages, input),
});

const withErrorText = (result: CallResult): CallResult => {
  if (!isPlainObject(result) || !isPlainObject(result.output)) return result;
  const { output, error } = result as CallResult & { error?: { length?: unknown } };
  if (output.type !== 'error-text' || typeof error?.length !== 'number') return result;
  const { length, ...rest } = error;
  return { ...result, error: { ...rest, message: output.value.slice(-Number(length)) } };
};

const readRecord = (record: CallRecord, asked: unknown, inside: AgentContext | undefined): CallRecord => {
  const { nested, waiting, result } = record;
  const told = result === undefined ? undefined : withErrorText(result);
  if (nested === undefined && waiting?.input === undefined && told === result) return record;
  return {
    ...record,
    ...(told === undefined ? {} : { result: told }),
    ...(nested === undefined ? {} : { nested: applied(likelyNested(inside), nested) as CallRecord['nested'] & {} }),
    ...(waiting?.input === undefined ? {} : { waiting: { ...waiting, input: applied(asked, waiting.input) } }),
  };
};

const readRound = (round: Round, calls: StoredAgent['calls'] & {}, sessionId: string): Round => {
  const asked = askedInputs(round);
  return {
    ...round,
    calls: round.calls.map((record) => {
      const { callId } = record;
      const agent = Object.hasOwn(calls, callId) ? calls[callId]?.agent : undefined;
      const given = { sessionId, input: asked.get(callId) };
      const inside = agent === undefined ? undefined : readContext(agent, withinCall(callId, agent, given));
      return readRecord(record, asked.get(callId), inside);
    }),
  };
};

/** All that an agent knows, from its stored state. Throws where the parts do not fit each other. */
export const readContext = (stored: StoredAgent, known: Known): AgentContext => {
  const context = { ...stored.context, ...known } as AgentContext;
  const { lastRound, turn, round, messages, sessionId } = context;
  const results = lastRound.length === 0 ? undefined : likelyResults(messages);
  return {
    ...context,
    round: round === null ? null : readRound(round, stored.calls ?? {}, sessionId),
    ...(results === undefined
      ? {}
      : {
          lastRound: lastRound.map((record) => ({
            ...record,
            result: withErrorText(applied(results.get(record.callId) ?? null, record.result) as CallResult),
          })),
        }),
    ...(turn.output === undefined
      ? {}
      : { turn: { ...turn, output: applied(likelyOutput(turn, messages), turn.output) as typeof turn.output & {} } }),
  };
};
