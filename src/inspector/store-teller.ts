import type { AnyActorRef } from 'xstate';
import { type Chart, chartOf } from './chart.ts';
import type { InspectedAgent } from './inspected-agent.ts';
import { activeStates, isMachineSnapshot, machineOf } from './machine-notes.ts';
import { diff } from './patch.ts';
import type { Told } from './protocol.ts';
import { type PathStep, edgesFor, seenChart } from './seen-chart.ts';
import { share } from './share.ts';

export interface TellerOptions {
  session: string;
  /** Of the agent. */
  name: string;
  /** Absent: the chart grows with the steps that are told. */
  chart?: Chart | undefined;
  agent?: InspectedAgent | undefined;
  tell(at: number, told: Told): void;
}

export type StoredStep = PathStep & { at: number };

/** Tells a stored session as the recorder would have told it: transitions one by one, and looks at what it was in between. */
export const createTeller = ({ session, name, chart: given, agent, tell }: TellerOptions) => {
  const charts = new Set<string>();
  const root = `${session}:root`;
  const contexts = new Map<string, unknown>();
  const walked: PathStep[] = [];
  let chart = given ?? seenChart('agent', []);
  let children = new Map<string, string>();

  const tellChart = (key: string, of: () => Chart, at: number): void => {
    if (charts.has(key)) return;
    charts.add(key);
    tell(at, { type: 'chart', key, chart: of() });
  };
  /** What was read anew shares what did not change with what was read before. */
  const contextOf = (key: string, context: unknown): { context: unknown; patch: ReturnType<typeof diff> } => {
    const before = contexts.get(key);
    const after = share(before, context);
    contexts.set(key, after);
    return { context: after, patch: diff(before, after) };
  };
  const lookAt = (at: number, key: string, actor: AnyActorRef): void => {
    const snapshot: unknown = actor.getSnapshot();
    if (!isMachineSnapshot(snapshot)) return;
    const { patch } = contextOf(key, snapshot.context);
    if (patch !== undefined) tell(at, { type: 'snapshot', session, actor: key, status: 'active', patch });
  };
  /** An actor below the root, with those below it; adds what it finds to `found`. */
  const lookBelow = (at: number, parent: string, id: string, actor: AnyActorRef, found: Map<string, string>): void => {
    const snapshot: unknown = actor.getSnapshot();
    const key = `${parent}/${id}`;
    const machine = machineOf(actor);
    if (machine === undefined || !isMachineSnapshot(snapshot)) return;
    const states = activeStates(snapshot);
    const before = children.get(key);
    found.set(key, states.join());
    if (before === undefined) {
      tellChart(machine.id, () => chartOf(machine), at);
      const { context } = contextOf(key, snapshot.context);
      const src = typeof actor.src === 'string' ? actor.src : machine.id;
      tell(at, { type: 'actor', session, actor: key, parent, id, src, chart: machine.id, states, context });
    } else if (before !== states.join()) {
      tell(at, { type: 'step', session, actor: key, event: '', states, edges: [] });
    }
    for (const [childId, child] of Object.entries(snapshot.children)) lookBelow(at, key, childId, child, found);
    lookAt(at, key, actor);
  };

  return {
    /** `from`: the state path that it begins in. */
    begin: (at: number, from: string): void => {
      tellChart('agent', () => chart, at);
      if (agent !== undefined) {
        const { tools = [], limits } = agent;
        tell(at, {
          type: 'agent',
          agent: {
            name,
            chart: 'agent',
            tools: tools.map(({ name: tool, description, inputSchema }) => ({ name: tool, description, inputSchema })),
            limits,
          },
        });
      }
      tell(at, { type: 'session', session, root, agent: name });
      contexts.set(root, {});
      tell(at, {
        type: 'actor',
        session,
        actor: root,
        parent: null,
        id: session,
        src: 'agent',
        chart: 'agent',
        states: [`${chart.id}.${from}`],
        context: {},
      });
    },
    steps: (steps: readonly StoredStep[]): void => {
      if (given === undefined && steps.length > 0) {
        walked.push(...steps);
        const grown = seenChart('agent', walked);
        if (grown.edges.length > chart.edges.length) {
          chart = grown;
          tell(steps[0]?.at ?? 0, { type: 'chart', key: 'agent', chart });
        }
      }
      for (const { at, event, from, to } of steps) {
        tell(at, {
          type: 'step',
          session,
          actor: root,
          event,
          states: [`${chart.id}.${to}`],
          edges: edgesFor(chart, { from, to, event }),
        });
      }
    },
    /** What the session was then: its context, and its calls as they stood. */
    look: (at: number, actor: AnyActorRef): void => {
      const snapshot = actor.getSnapshot() as { children: Record<string, AnyActorRef> };
      const now = new Map<string, string>();
      for (const [id, child] of Object.entries(snapshot.children)) lookBelow(at, root, id, child, now);
      const gone = [...children.keys()].filter((key) => !now.has(key));
      children = now;
      if (gone.length > 0) tell(at, { type: 'snapshot', session, actor: root, status: 'active', gone });
      lookAt(at, root, actor);
    },
    /** What was said, where nothing more is known. */
    say: (at: number, messages: readonly unknown[]): void => {
      const { patch } = contextOf(root, { sessionId: session, messages, inbox: [], turn: {} });
      if (patch !== undefined) tell(at, { type: 'snapshot', session, actor: root, status: 'active', patch });
    },
  };
};

export type Teller = ReturnType<typeof createTeller>;
