import { StateMachine, type ActorRefLike, type AnyActorRef, type AnyStateMachine, type AnyStateNode } from 'xstate';
import { type Chart, chartOf, edgeIdsOf } from './chart.ts';

/** What XState tells of a machine's snapshot and nothing else: the one file that knows its inner names. */
export interface MachineSnapshotLike {
  _nodes: AnyStateNode[];
  context: unknown;
  children: Record<string, AnyActorRef>;
}

export interface MachineNotes {
  key: string;
  chart: Chart;
  edgeIds: WeakMap<object, string[]>;
}

/** Inspection names an actor by less than it is. */
export const asActor = (actor: ActorRefLike): AnyActorRef => actor as AnyActorRef;

export const machineOf = (actor: AnyActorRef): AnyStateMachine | undefined => {
  const { logic } = actor as { logic?: unknown };
  return logic instanceof StateMachine ? (logic as AnyStateMachine) : undefined;
};

/** Sessions of one agent share one machine: it is walked once. */
export const createMachineNotes = (announce: (notes: MachineNotes) => void) => {
  const known = new WeakMap<AnyStateMachine, MachineNotes>();
  let count = 0;
  return (machine: AnyStateMachine): MachineNotes => {
    const found = known.get(machine);
    if (found !== undefined) return found;
    count += 1;
    const notes = { key: `${machine.id}#${count}`, chart: chartOf(machine), edgeIds: edgeIdsOf(machine) };
    known.set(machine, notes);
    announce(notes);
    return notes;
  };
};

/** The innermost active states, in document order. */
export const activeStates = ({ _nodes: nodes }: MachineSnapshotLike): string[] => {
  const parents = new Set(nodes.map(({ parent }) => parent));
  return nodes.filter((node) => !parents.has(node)).map(({ id }) => id);
};

export const isMachineSnapshot = (snapshot: unknown): snapshot is MachineSnapshotLike =>
  typeof snapshot === 'object' && snapshot !== null && '_nodes' in snapshot && Array.isArray(snapshot._nodes);
