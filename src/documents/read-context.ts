import type { AgentContext } from '../machines/agent-context.ts';
import type { CallRecord, Round } from '../machines/round.ts';
import type { CallResult } from '../tools/call.ts';
import { applied } from './change.ts';
import { askedInputs, likelyNested, likelyOutput, likelyResults } from './derived.ts';
import type { StoredAgent, StoredCall } from './stored-agent.ts';

/** What an agent knows beside what is stored as its state. */
export type Known = Pick<AgentContext, 'sessionId' | 'messages'> & Partial<AgentContext>;

/** What a call gives to the agent inside it. */
export const withinCall = (callId: string, { messages }: StoredCall['agent'] & {}, sessionId: string): Known => ({
  sessionId: `${sessionId}/${callId}`,
  callPrefix: `${callId}-`,
  singleTurn: true,
  messages,
});

const readRecord = (record: CallRecord, asked: unknown, inside: AgentContext | undefined): CallRecord => {
  const { nested, waiting } = record;
  if (nested === undefined && waiting?.input === undefined) return record;
  return {
    ...record,
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
      const inside = agent === undefined ? undefined : readContext(agent, withinCall(callId, agent, sessionId));
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
            result: applied(results.get(record.callId) ?? null, record.result) as CallResult,
          })),
        }),
    ...(turn.output === undefined
      ? {}
      : { turn: { ...turn, output: applied(likelyOutput(turn, messages), turn.output) as typeof turn.output & {} } }),
  };
};
