import type { AnyActorRef } from 'xstate';
import { chartOf } from './chart.ts';
import type { HistorySource, InspectedStore } from './history-source.ts';
import type { InspectedAgent } from './inspected-agent.ts';
import { activeStates, isMachineSnapshot, machineOf } from './machine-notes.ts';
import { diff } from './patch.ts';
import type { ProtocolEvent, Told } from './protocol.ts';
import { edgeFor, seenChart } from './seen-chart.ts';

type Step = Awaited<ReturnType<InspectedStore['history']>>[number];

const maxListed = 200;
/** Revisions whose contexts are read; of a longer session as many, evenly. Its transitions are all there. */
const maxRevisions = 200;

const parsed = (text: string): unknown => JSON.parse(text) as unknown;

/** What a session was at a revision: its actor, which never starts. undefined where it cannot be read. */
const actorAt = async (agent: InspectedAgent, id: string, at: number): Promise<AnyActorRef | undefined> => {
  try {
    return (await agent.open(id, { at })).actor;
  } catch {
    // A revision of an older machine, say: its transitions are still told.
    return undefined;
  }
};

const chosenRevisions = (last: number): Set<number> => {
  const step = Math.max(1, last / maxRevisions);
  const chosen = new Set([last]);
  for (let revision = 1; revision <= last; revision += step) chosen.add(Math.floor(revision));
  return chosen;
};

/**
 * The sessions of a store, with their past, as if they had been recorded. An agent of the same name tells contexts and calls as they
 * were at each revision; without one there are the transitions and the messages. Nothing is opened, claimed or run.
 */
export const storeHistory = (store: InspectedStore, agents: readonly InspectedAgent[]): HistorySource => ({
  list: async () =>
    (await store.list({ limit: maxListed })).map(({ sessionId, agent, status, pending, updatedAt }) => ({
      id: sessionId,
      agent,
      status,
      pending,
      changedAt: updatedAt,
    })),
  post: async (id, event) => {
    await store.post(id, event);
  },
  events: async (id) => {
    const stored = await store.read(id);
    if (stored === undefined) return undefined;
    const { summary, messages } = stored;
    const steps = await store.history(id);
    const agent = agents.find(({ name }) => name === summary.agent);
    const events: ProtocolEvent[] = [];
    const tell = (at: number, told: Told): void => {
      events.push({ seq: events.length + 1, at, ...told });
    };
    const teller = createTeller(id, summary.agent, agent, steps, tell);
    teller.begin(summary.createdAt);
    const chosen = chosenRevisions(summary.revision);
    let at = summary.createdAt;
    let read = 0;
    for (let revision = 1; revision <= summary.revision; revision += 1) {
      for (let step = steps[read]; step !== undefined && step.revision <= revision; step = steps[read]) {
        at = step.at;
        teller.step(step);
        read += 1;
      }
      if (agent === undefined || !chosen.has(revision)) continue;
      const actor = await actorAt(agent, id, revision);
      if (actor !== undefined) teller.look(at, actor);
    }
    if (agent === undefined) teller.say(at, messages.map(parsed));
    return events;
  },
});

const createTeller = (
  session: string,
  name: string,
  agent: InspectedAgent | undefined,
  steps: readonly Step[],
  tell: (at: number, told: Told) => void,
) => {
  const chart = agent === undefined ? seenChart('agent', steps) : chartOf(agent.machine);
  const charts = new Set<string>();
  const root = `${session}:root`;
  const contexts = new Map<string, unknown>();
  let children = new Map<string, string>();

  const tellChart = (key: string, of: () => typeof chart, at: number): void => {
    if (charts.has(key)) return;
    charts.add(key);
    tell(at, { type: 'chart', key, chart: of() });
  };
  const lookAt = (at: number, key: string, actor: AnyActorRef): void => {
    const snapshot: unknown = actor.getSnapshot();
    if (!isMachineSnapshot(snapshot)) return;
    const patch = diff(contexts.get(key), snapshot.context);
    contexts.set(key, snapshot.context);
    if (patch !== undefined) tell(at, { type: 'snapshot', session, actor: key, status: 'active', patch });
  };
  const lookAtChild = (at: number, id: string, actor: AnyActorRef): string => {
    const snapshot: unknown = actor.getSnapshot();
    const key = `${root}/${id}`;
    const machine = machineOf(actor);
    if (machine === undefined || !isMachineSnapshot(snapshot)) return key;
    const states = activeStates(snapshot);
    const before = children.get(key);
    if (before === undefined) {
      tellChart(machine.id, () => chartOf(machine), at);
      contexts.set(key, snapshot.context);
      const src = typeof actor.src === 'string' ? actor.src : machine.id;
      tell(at, {
        type: 'actor',
        session,
        actor: key,
        parent: root,
        id,
        src,
        chart: machine.id,
        states,
        context: snapshot.context,
      });
    } else if (before !== states.join()) {
      tell(at, { type: 'step', session, actor: key, event: '', states, edges: [] });
    }
    lookAt(at, key, actor);
    return key;
  };

  return {
    begin: (at: number): void => {
      tellChart('agent', () => chart, at);
      if (agent !== undefined) {
        const { tools = [], limits } = agent;
        tell(at, { type: 'agent', agent: { name, chart: 'agent', tools, limits } });
      }
      tell(at, { type: 'session', session, root, agent: name });
      const states = [`${chart.id}.${steps[0]?.from ?? 'idle'}`];
      contexts.set(root, {});
      tell(at, {
        type: 'actor',
        session,
        actor: root,
        parent: null,
        id: session,
        src: 'agent',
        chart: 'agent',
        states,
        context: {},
      });
    },
    step: (step: Step): void => {
      const edge =
        agent === undefined ? `${chart.id}.${step.from}|${step.event}|${chart.id}.${step.to}` : edgeFor(chart, step);
      const states = [`${chart.id}.${step.to}`];
      tell(step.at, {
        type: 'step',
        session,
        actor: root,
        event: step.event,
        states,
        edges: edge === undefined ? [] : [edge],
      });
    },
    /** What the session was then: its context, and its calls as they stood. */
    look: (at: number, actor: AnyActorRef): void => {
      const { children: found } = actor.getSnapshot() as { children: Record<string, AnyActorRef> };
      const now = new Map<string, string>();
      for (const [id, child] of Object.entries(found)) {
        const key = lookAtChild(at, id, child);
        const snapshot: unknown = child.getSnapshot();
        if (isMachineSnapshot(snapshot)) now.set(key, activeStates(snapshot).join());
      }
      const gone = [...children.keys()].filter((key) => !now.has(key));
      children = now;
      if (gone.length > 0) tell(at, { type: 'snapshot', session, actor: root, status: 'active', gone });
      lookAt(at, root, actor);
    },
    /** What was said, where nothing more is known. */
    say: (at: number, messages: readonly unknown[]): void => {
      const patch = diff(contexts.get(root), { sessionId: session, messages, inbox: [], turn: {} });
      if (patch !== undefined) tell(at, { type: 'snapshot', session, actor: root, status: 'active', patch });
    },
  };
};
