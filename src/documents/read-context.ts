import type { AgentContext, Decision } from '../machines/agent-context.ts';
import type { CallRecord, Round } from '../machines/round.ts';
import { isPlainObject } from '../messages/json.ts';
import type { Turn } from '../machines/turn.ts';
import type { CallNeeds, CallResult, CallSpec } from '../tools/call.ts';
import { applied } from './change.ts';
import { type StoredDecision, readDecisions, readInside as decisionsInside } from './decisions.ts';
import { askedInputs, likelyNested, likelyOutput, likelyResults, likelyStopping } from './derived.ts';
import { readOutcome } from './error-limit.ts';
import { withErrorText } from './error-text.ts';
import { withGiver } from './given-by.ts';
import { withWaitingHash } from './input-hashes.ts';
import { withPrompt } from './prompt.ts';
import { type Referring, readSaidInside } from './said-inside.ts';
import type { StoredAgent, StoredCall } from './stored-agent.ts';

/** What an agent knows beside what is stored as its state. */
export type Known = Pick<AgentContext, 'sessionId' | 'messages'> & Partial<AgentContext>;

/** What a call gives to the agent inside it, and what of its own state follows from the agent above. */
export const withinCall = (
  { messages, ...agent }: StoredCall['agent'] & {},
  { callId, input }: Pick<CallSpec, 'callId' | 'input'>,
  { sessionId, decisions, turn }: Pick<AgentContext, 'sessionId' | 'decisions' | 'turn'>,
): { agent: StoredAgent; known: Known } => {
  const { context } = agent;
  const inside = context['turn'] as Turn;
  return {
    agent: {
      ...agent,
      context: {
        ...context,
        decisions: decisionsInside(context['decisions'], decisions, callId),
        ...(inside.stopping === undefined
          ? {}
          : { turn: { ...inside, stopping: applied(likelyStopping(turn.stopping), inside.stopping) } }),
      },
    },
    known: {
      sessionId: `${sessionId}/${callId}`,
      callPrefix: `${callId}-`,
      singleTurn: true,
      messages: withPrompt(messages, input),
    },
  };
};

const toldBy = (result: CallResult, callId: string, decisions: readonly Decision[]): CallResult => {
  if (!isPlainObject(result)) return result;
  const given = withGiver(result, callId, decisions);
  return isPlainObject(given.error) ? { ...given, error: withErrorText(given.error, given.output) } : given;
};

const readWaiting = (waiting: CallNeeds, asked: unknown): CallNeeds =>
  isPlainObject(waiting)
    ? withWaitingHash(
        waiting.input === undefined ? waiting : { ...waiting, input: applied(asked, waiting.input) },
        asked,
      )
    : waiting;

const readRecord = (
  record: CallRecord,
  asked: unknown,
  inside: AgentContext | undefined,
  decisions: readonly Decision[],
): CallRecord => {
  const { callId, nested, waiting, result } = record;
  const told = result === undefined ? undefined : toldBy(result, callId, decisions);
  if (nested === undefined && waiting === undefined && told === result) return record;
  return {
    ...record,
    ...(told === undefined ? {} : { result: told }),
    ...(nested === undefined ? {} : { nested: applied(likelyNested(inside), nested) as CallRecord['nested'] & {} }),
    ...(waiting === undefined ? {} : { waiting: readWaiting(waiting, asked) }),
  };
};

const readRound = (round: Round, calls: StoredAgent['calls'] & {}, above: AgentContext): Round => {
  const asked = askedInputs(round);
  return {
    ...round,
    calls: round.calls.map((record) => {
      const { callId } = record;
      const agent = Object.hasOwn(calls, callId) ? calls[callId]?.agent : undefined;
      const inside = agent === undefined ? undefined : insideOf(agent, { callId, input: asked.get(callId) }, above);
      return readRecord(record, asked.get(callId), inside, above.decisions);
    }),
  };
};

const insideOf = (...given: Parameters<typeof withinCall>): AgentContext => {
  const { agent, known } = withinCall(...given);
  return readContext(agent, known);
};

/** All that an agent knows, from its stored state. Throws where the parts do not fit each other. */
export const readContext = (stored: StoredAgent, known: Known): AgentContext => {
  const context = { ...stored.context, ...known } as AgentContext;
  const { lastRound, turn, round, messages } = context;
  const decisions = readDecisions(
    readSaidInside(context.decisions as readonly Referring<StoredDecision>[], stored.calls ?? {}),
  );
  const outcome = readOutcome(turn, messages);
  const results = lastRound.length === 0 ? undefined : likelyResults(messages);
  return {
    ...context,
    decisions,
    round: round === null ? null : readRound(round, stored.calls ?? {}, { ...context, decisions }),
    ...(results === undefined
      ? {}
      : {
          lastRound: lastRound.map((record) => ({
            ...record,
            result: toldBy(
              applied(results.get(record.callId) ?? null, record.result) as CallResult,
              record.callId,
              decisions,
            ),
          })),
        }),
    ...(turn.output === undefined && outcome === turn.outcome
      ? {}
      : {
          turn: {
            ...turn,
            ...(outcome === undefined ? {} : { outcome }),
            ...(turn.output === undefined
              ? {}
              : { output: applied(likelyOutput(turn, messages), turn.output) as typeof turn.output & {} }),
          },
        }),
  };
};
