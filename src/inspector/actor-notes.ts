import type { AnyActorRef, AnyEventObject, AnyStateMachine } from 'xstate';
import { isPlainObject } from '../messages/json.ts';
import type { EventLog } from './event-log.ts';
import { type MachineNotes, activeStates, isMachineSnapshot, machineOf } from './machine-notes.ts';
import type { ActorStatus } from './protocol.ts';

/** What the recorder remembers of one actor: the last values that it told, by reference. */
export interface ActorNotes {
  key: string;
  session: string;
  machine: MachineNotes | undefined;
  isTold: boolean;
  context: unknown;
  children: Record<string, AnyActorRef> | undefined;
  status: ActorStatus;
  /** The event under way, until its first step is told. */
  heard: AnyEventObject | undefined;
  hasStepped: boolean;
}

interface Options {
  log: EventLog;
  machines(machine: AnyStateMachine): MachineNotes;
  /** The name of the agent that has this chart. */
  nameOf(chart: string): string | undefined;
}

const rootActorOf = (actor: AnyActorRef): AnyActorRef => {
  let root = actor;
  while (root._parent !== undefined) root = root._parent;
  return root;
};

const sessionIdOf = (context: unknown): string | undefined =>
  isPlainObject(context) && typeof context['sessionId'] === 'string' ? context['sessionId'] : undefined;

/**
 * How many sessions are kept from the collector, the newest. One that waits for somebody is often held by nobody else, and what the
 * page offers to decide on must be there. Older ones are opened again by their agent.
 */
const heldRoots = 1_000;

export const createActorNotes = ({ log, machines, nameOf }: Options) => {
  const known = new WeakMap<AnyActorRef, ActorNotes>();
  const sessions = new WeakMap<AnyActorRef, string>();
  const roots = new Map<string, { ref: WeakRef<AnyActorRef>; agent: string | undefined }>();
  const held = new Set<AnyActorRef>();
  let actors = 0;
  let others = 0;

  const contextOf = (actor: AnyActorRef): unknown => {
    const snapshot: unknown = actor.getSnapshot();
    return isMachineSnapshot(snapshot) ? snapshot.context : undefined;
  };

  const hold = (root: AnyActorRef): void => {
    held.add(root);
    for (const oldest of held) {
      if (held.size <= heldRoots) break;
      held.delete(oldest);
    }
  };

  const agentNameOf = (root: AnyActorRef): string | undefined => {
    const machine = of(root).machine;
    return machine === undefined ? undefined : nameOf(machine.key);
  };

  /** A conversation keeps its name over restarts; any other machine gets a number. */
  const sessionOf = (root: AnyActorRef): string => {
    const found = sessions.get(root);
    if (found !== undefined) return found;
    const own = sessionIdOf(contextOf(root));
    if (own === undefined) others += 1;
    const session = own ?? `${root.id} ${log.run}.${others}`;
    sessions.set(root, session);
    roots.set(session, { ref: new WeakRef(root), agent: agentNameOf(root) });
    hold(root);
    return session;
  };

  const of = (actor: AnyActorRef): ActorNotes => {
    const found = known.get(actor);
    if (found !== undefined) return found;
    actors += 1;
    const machine = machineOf(actor);
    const notes: ActorNotes = {
      key: `${log.run}.${actors}`,
      session: '',
      machine: machine === undefined ? undefined : machines(machine),
      isTold: false,
      context: undefined,
      children: undefined,
      status: 'active',
      heard: undefined,
      hasStepped: false,
    };
    known.set(actor, notes);
    return notes;
  };

  return {
    of,
    tell: (actor: AnyActorRef, notes: ActorNotes): void => {
      const root = rootActorOf(actor);
      const snapshot: unknown = actor.getSnapshot();
      const machine = isMachineSnapshot(snapshot) ? snapshot : undefined;
      notes.isTold = true;
      notes.session = sessionOf(root);
      notes.context = machine?.context;
      const { key, session } = notes;
      if (actor === root) {
        const agent = roots.get(session)?.agent;
        log.append({ type: 'session', session, root: key, ...(agent === undefined ? {} : { agent }) });
      }
      log.append({
        type: 'actor',
        session,
        actor: key,
        parent: actor._parent === undefined ? null : of(actor._parent).key,
        id: actor.id,
        src: typeof actor.src === 'string' ? actor.src : (notes.machine?.chart.id ?? 'inline'),
        chart: notes.machine?.key ?? null,
        states: machine === undefined ? [] : activeStates(machine),
        ...(machine === undefined ? {} : { context: machine.context }),
      });
    },
    /** The keys of the children that are no longer there. */
    gone: (notes: ActorNotes, children: Record<string, AnyActorRef>): string[] => {
      const before = notes.children;
      notes.children = children;
      if (before === undefined || before === children) return [];
      return Object.entries(before).flatMap(([id, child]) => (children[id] === child ? [] : [of(child).key]));
    },
    rootOf: (session: string): AnyActorRef | undefined => {
      const root = roots.get(session)?.ref.deref();
      const snapshot = root?.getSnapshot() as { status: ActorStatus } | undefined;
      return snapshot?.status === 'active' ? root : undefined;
    },
    agentOf: (session: string): string | undefined => roots.get(session)?.agent,
  };
};
