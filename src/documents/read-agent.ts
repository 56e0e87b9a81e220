import type { AnyStateMachine, AnyStateNode, StateValue } from 'xstate';
import { AgentError } from '../errors.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import type { CallRecord, Round } from '../machines/round.ts';
import type { ToolCallContext } from '../machines/tool-call-context.ts';
import { resultOf } from '../machines/turn-result.ts';
import type { CallSpec } from '../tools/call.ts';
import { stateNames } from './check-states.ts';
import { callSpecs, likelyCall } from './derived.ts';
import { readCallContext } from './read-call-context.ts';
import { type Known, readContext, withinCall } from './read-context.ts';
import type { StoredAgent, StoredCall } from './stored-agent.ts';

/** What XState restores an agent from. */
export interface AgentSnapshot extends Record<string, unknown> {
  value: StateValue;
  context: AgentContext;
  children: Record<string, Persisted>;
}

/** An actor as XState persists it. */
export interface Persisted {
  src: string;
  snapshot: Record<string, unknown>;
  syncSnapshot: boolean;
}

const persisted = (src: string, snapshot: Record<string, unknown>): Persisted => ({
  src,
  snapshot,
  syncSnapshot: false,
});

/** Parts of a document that do not fit each other; the message says which. */
export class Misfit extends Error {}

/** Nothing is resolved to some state that is there: a state that is gone, or one that is not whole, is told. */
const checkState = (machine: AnyStateMachine, value: StateValue, path: string): void => {
  const { missing, open } = stateNames(machine, value);
  if (missing.length > 0) {
    throw new AgentError(
      'incompatible-document',
      `the session is in a state that does not exist here: "${path}" is ${missing.join(', ')}; open it with the version of the agent that wrote it`,
    );
  }
  if (open.length > 0) throw new Misfit(`"${path}" ends at "${open.join(', ')}", which has states of its own`);
};

/** What effects came to that nobody had taken yet, by their ids. */
type Outcomes = Readonly<Record<string, unknown>> | undefined;

const effect = (src: string, input: unknown, id: string, known: Outcomes = {}): Persisted =>
  persisted(src, { status: 'active', input, ...(Object.hasOwn(known, id) ? { known: known[id] } : {}) });

const checkKnown = (known: Outcomes = {}, actors: Readonly<Record<string, Persisted>>, path: string): void => {
  for (const id of Object.keys(known))
    if (!Object.hasOwn(actors, id)) throw new Misfit(`"${path}.known.${id}" is of no actor that is at work`);
};

/** The actors that the active states of a chart have at work, each with the input that the chart gives it. */
const invoked = (
  machine: AnyStateMachine,
  value: StateValue,
  context: unknown,
  known: Outcomes,
): Record<string, Persisted> => {
  const { _nodes: nodes } = machine.resolveState({ value, context } as never) as { _nodes: AnyStateNode[] };
  return Object.fromEntries(
    nodes.flatMap((node) =>
      node.invoke.map(({ id, src, input }) => {
        const given: unknown = typeof input === 'function' ? input({ context, event: {}, self: {} } as never) : input;
        return [id, effect(src as string, given, id, known)];
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

const readCall = (
  chart: AnyStateMachine,
  { state, context: change, known }: StoredCall,
  likely: ToolCallContext,
  inside: AgentSnapshot | undefined,
  path: string,
): Persisted => {
  const context = readCallContext(change, likely);
  const children = invoked(chart, state, context, known);
  checkKnown(known, children, path);
  if (inside !== undefined) children['agent'] = persisted(`agent:${likely.call.tool}`, inside);
  return persisted('toolCall', { status: 'active', value: state, context, children, historyValue: {} });
};

const callIn = (round: Round | null, callId: string, path: string): CallRecord => {
  const record = round?.calls.find((each) => each.callId === callId);
  if (record === undefined) throw new Misfit(`"${path}.calls.${callId}" is no call of the open round`);
  return record;
};

const readInside = (
  chart: AnyStateMachine,
  { callId, tool, input }: CallSpec,
  stored: StoredCall['agent'] & {},
  above: AgentContext,
  path: string,
): AgentSnapshot => {
  const { agent, known } = withinCall(stored, { callId, input }, above);
  const inside = chartOf(chart, `agent:${tool}`, `the tool "${tool}" of call ${callId}`);
  return readAgent(inside, agent, known, `${path}.calls.${callId}.agent`);
};

/**
 * Throws where the parts do not fit each other: `Misfit`, or `incompatible-document` where they are of another agent. What each part says
 * is checked by those who look at the snapshot.
 */
export const readAgent = (
  machine: AnyStateMachine,
  stored: StoredAgent,
  known: Known,
  path = 'state',
): AgentSnapshot => {
  const { sessionId } = known;
  checkState(machine, stored.state, `${path}.state`);
  const calls = Object.entries(stored.calls ?? {});
  const chart = chartOf(machine, 'toolCall', 'its open round');
  const context = readContext(stored, known);
  const { round, turn } = context;
  const specs = round === null ? undefined : callSpecs(round, turn);
  const children = invoked(machine, stored.state, context, stored.known);
  if (stored.deadline !== undefined)
    children['deadline'] = effect('alarm', { at: stored.deadline }, 'deadline', stored.known);
  checkKnown(stored.known, children, path);
  for (const [callId, call] of calls) {
    const record = callIn(round, callId, path);
    checkState(chart, call.state, `${path}.calls.${callId}.state`);
    const spec = specs?.get(callId);
    if (spec === undefined) throw new Misfit(`"${path}.calls.${callId}" is not in the reply of its round`);
    const inside = call.agent === undefined ? undefined : readInside(chart, spec, call.agent, context, path);
    const likely = likelyCall(record, spec, { sessionId, stopping: turn.stopping });
    children[callId] = readCall(chart, call, likely, inside, `${path}.calls.${callId}`);
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
