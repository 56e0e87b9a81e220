import type { AnyStateMachine, AnyStateNode, StateValue } from 'xstate';
import { AgentError } from '../errors.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import type { CallRecord, Round } from '../machines/round.ts';
import type { ToolCallContext } from '../machines/tool-call-context.ts';
import { resultOf } from '../machines/turn-result.ts';
import type { CallResult } from '../tools/call.ts';
import { applied } from './change.ts';
import { askedInputs, callSpecs, likelyCall, likelyNested, likelyOutput, likelyResults } from './derived.ts';
import type { StoredAgent, StoredCall } from './stored-agent.ts';

/** An actor as XState persists it. */
interface Persisted {
  src: string;
  snapshot: Record<string, unknown>;
  syncSnapshot: boolean;
}

const persisted = (src: string, snapshot: Record<string, unknown>): Persisted => ({
  src,
  snapshot,
  syncSnapshot: false,
});

/** The actors that the active states of a chart have at work, each with the input that the chart gives it. */
const invoked = (
  machine: AnyStateMachine,
  value: StateValue,
  context: unknown,
  known: Readonly<Record<string, unknown>> = {},
): Record<string, Persisted> => {
  const { _nodes: nodes } = machine.resolveState({ value, context } as never) as { _nodes: AnyStateNode[] };
  return Object.fromEntries(
    nodes.flatMap((node) =>
      node.invoke.map(({ id, src, input }) => {
        const given: unknown = typeof input === 'function' ? input({ context, event: {}, self: {} } as never) : input;
        const outcome = Object.hasOwn(known, id) ? { known: known[id] } : {};
        return [id, persisted(String(src), { status: 'active', input: given, ...outcome })];
      }),
    ),
  );
};

const chartOf = (machine: AnyStateMachine, name: string, what: string): AnyStateMachine => {
  const { actors } = machine.implementations as { actors: Record<string, unknown> };
  const found = Object.hasOwn(actors, name) ? actors[name] : undefined;
  if (found === undefined) {
    throw new AgentError(
      'incompatible-document',
      `${what} is no agent's any more; open the session with the version of the agent that wrote it`,
    );
  }
  return found as AnyStateMachine;
};

const readRecord = (record: CallRecord, asked: unknown, inside: AgentContext | undefined): CallRecord => {
  const { nested, waiting } = record;
  return {
    ...record,
    ...(nested === undefined ? {} : { nested: applied(likelyNested(inside), nested) as CallRecord['nested'] & {} }),
    ...(waiting?.input === undefined ? {} : { waiting: { ...waiting, input: applied(asked, waiting.input) } }),
  };
};

/** What XState restores an agent from. */
export type AgentSnapshot = Record<string, unknown> & { context: AgentContext };

/** What an agent knows beside what is stored as its state. */
export type Known = Pick<AgentContext, 'sessionId' | 'messages'> & Partial<AgentContext>;

/** The agents inside calls, by the ids of the calls. */
type Inside = ReadonlyMap<string, AgentSnapshot>;

const readRound = (round: Round | null, inside: Inside): Round | null => {
  if (round === null) return null;
  const asked = askedInputs(round);
  return {
    ...round,
    calls: round.calls.map((record) =>
      readRecord(record, asked.get(record.callId), inside.get(record.callId)?.context),
    ),
  };
};

const readContext = (stored: StoredAgent, known: Known, inside: Inside): AgentContext => {
  const context = { ...stored.context, ...known } as AgentContext;
  const { lastRound, turn, messages } = context;
  const results = lastRound.length === 0 ? undefined : likelyResults(messages);
  return {
    ...context,
    round: readRound(context.round, inside),
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

const readCall = (
  chart: AnyStateMachine,
  { state, context: change, known }: StoredCall,
  likely: ToolCallContext,
  inside: AgentSnapshot | undefined,
): Persisted => {
  const context = change === undefined ? likely : applied(likely, change);
  const children = invoked(chart, state, context, known);
  if (inside !== undefined) children['agent'] = persisted(`agent:${likely.call.tool}`, inside);
  return persisted('toolCall', { status: 'active', value: state, context, children, historyValue: {} });
};

const callIn = (round: Round | null, callId: string): CallRecord => {
  const record = round?.calls.find((each) => each.callId === callId);
  if (record === undefined) throw new TypeError(`its call "${callId}" is no call of its open round`);
  return record;
};

/** Throws where the parts do not fit each other. What each part is, is checked by those who look at the snapshot. */
export const readAgent = (machine: AnyStateMachine, stored: StoredAgent, known: Known): AgentSnapshot => {
  const { sessionId } = known;
  const calls = Object.entries(stored.calls ?? {});
  const written = stored.context['round'] as Round | null;
  const chart = chartOf(machine, 'toolCall', 'its open round');
  const inside: Inside = new Map(
    calls.flatMap(([callId, { agent }]) => {
      if (agent === undefined) return [];
      const { tool } = callIn(written, callId);
      const agentChart = chartOf(chart, `agent:${tool}`, `the tool "${tool}" of call ${callId}`);
      const above = { sessionId: `${sessionId}/${callId}`, callPrefix: `${callId}-`, singleTurn: true };
      return [[callId, readAgent(agentChart, agent, { ...above, messages: agent.messages })]];
    }),
  );
  const context = readContext(stored, known, inside);
  const { round, turn } = context;
  const specs = round === null ? undefined : callSpecs(round, turn);
  const children = invoked(machine, stored.state, context, stored.known);
  if (stored.deadline !== undefined)
    children['deadline'] = persisted('alarm', { status: 'active', input: { at: stored.deadline } });
  for (const [callId, call] of calls) {
    const record = callIn(round, callId);
    const spec = specs?.get(callId);
    if (spec === undefined) throw new TypeError(`its call "${callId}" is not in its reply`);
    children[callId] = readCall(chart, call, likelyCall(record, spec, sessionId), inside.get(callId));
  }
  const isClosed = stored.state === 'closed';
  return {
    status: isClosed ? 'done' : 'active',
    ...(isClosed ? { output: resultOf(context) } : {}),
    value: stored.state,
    context,
    children,
    historyValue: {},
  };
};
