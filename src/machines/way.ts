import { type AnyStateMachine, type StateValue, spawnChild, stopChild } from 'xstate';

/** What XState makes of an action: of its own ones a function with what it needs, of ours a name with parameters. */
export type Action = string | { type: string; params?: unknown } | ((...args: never[]) => unknown);

/** A transition of a chart, as XState has it. */
export interface Transition {
  source: Node;
  target: readonly Node[] | undefined;
  actions: readonly Action[];
  guard?: string | { type: string; params?: unknown };
}

/** A state of a chart, as XState has it. */
export interface Node {
  key: string;
  type: string;
  parent?: Node;
  entry: Action[];
  exit: Action[];
  invoke: { id: string; src: string }[];
  tags: string[];
  transitions: ReadonlyMap<string, readonly Transition[]>;
  always?: readonly Transition[];
  initial: { target: readonly Node[] };
}

/** An action with what its name stands for. */
export interface Ready {
  does: unknown;
  params: unknown;
}

/** What a transition does from the state that is active: all its actions in their order, and where it leads. */
export interface Way {
  actions: readonly Ready[];
  /** Absent where no state is left or entered. */
  to?: { _nodes: readonly Node[]; tags: readonly string[] };
  isFinal: boolean;
}

type Named = Pick<AnyStateMachine, 'implementations'>;

export const readyOf = (action: Action, { implementations: { actions } }: Named): Ready => {
  if (typeof action === 'function') return { does: action, params: undefined };
  if (typeof action === 'string') return { does: actions[action] ?? action, params: undefined };
  return { does: actions[action.type] ?? action, params: action.params };
};

/** From the root to the state. */
const lineOf = (node: Node | undefined): Node[] => (node === undefined ? [] : [...lineOf(node.parent), node]);

/** Of a line from the root down. */
export const valueOf = (line: readonly Node[], from = 1): StateValue => {
  const key = line[from]?.key;
  if (key === undefined) return {};
  return from === line.length - 1 ? key : { [key]: valueOf(line, from + 1) };
};

/** The states that are entered with one because nothing else is said. */
const initialOf = (node: Node): Node[] => node.initial.target.flatMap((each) => [each, ...initialOf(each)]);

const leaving = ({ exit, invoke }: Node): Action[] => [...exit, ...invoke.map(({ id }) => stopChild(id))];

const entering = ({ entry, invoke }: Node): Action[] => [
  ...entry,
  ...invoke.map((each) => spawnChild(each.src as never, { ...each } as never) as Action),
];

const moving = (
  machine: Named,
  left: readonly Node[],
  entered: readonly Node[],
  staying: readonly Node[],
  actions: readonly Action[],
): Way => {
  const nodes = [...staying, ...entered];
  const all = [...left.toReversed().flatMap(leaving), ...actions, ...entered.flatMap(entering)];
  return {
    actions: all.map((action) => readyOf(action, machine)),
    to: { _nodes: nodes, tags: nodes.flatMap(({ tags }) => tags) },
    isFinal: nodes.length === 2 && nodes[1]?.type === 'final',
  };
};

/** How a chart begins. */
export const firstWay = (machine: AnyStateMachine): Way => {
  const node = machine.root as unknown as Node;
  return moving(machine, [], [node, ...initialOf(node)], [], []);
};

/** Of charts without parallel states, history and transitions that enter their own state again. */
const wayOf = (machine: Named, leaf: Node, { source, target, actions }: Transition): Way => {
  const to = target?.[0];
  if (to === undefined) return { actions: actions.map((action) => readyOf(action, machine)), isFinal: false };
  const active = lineOf(leaf);
  const line = lineOf(to);
  // Of a state that leads into itself it stays; else the nearest that both are in does.
  const depth = line.includes(source)
    ? lineOf(source).length
    : line.findLastIndex((node) => lineOf(source.parent).includes(node)) + 1;
  return moving(
    machine,
    active.slice(depth),
    [...line.slice(depth), ...initialOf(to)],
    active.slice(0, depth),
    actions,
  );
};

/** A transition that may be taken in a state, with what its guard's name stands for. */
export interface Choice {
  transition: Transition;
  holds: ((args: object, params: unknown) => boolean) | undefined;
  params: unknown;
  /** Worked out when it is first taken. */
  way(): Way;
}

/** What may happen in a state: its own transitions first, then those of the states that it is in. */
export interface Place {
  always: readonly Choice[];
  on: ReadonlyMap<string, readonly Choice[]>;
}

const nameOf = (guard: string | { type: string }): string => (typeof guard === 'string' ? guard : guard.type);

export const placeOf = (machine: AnyStateMachine, leaf: Node): Place => {
  const { guards } = machine.implementations;
  const choiceOf = (transition: Transition): Choice => {
    const { guard } = transition;
    let way: Way | undefined;
    return {
      transition,
      holds: guard === undefined ? undefined : (guards[nameOf(guard)] as unknown as Choice['holds']),
      params: typeof guard === 'object' ? guard.params : undefined,
      way: () => (way ??= wayOf(machine, leaf, transition)),
    };
  };
  const always: Choice[] = [];
  const on = new Map<string, Choice[]>();
  for (const node of lineOf(leaf).toReversed()) {
    always.push(...(node.always ?? []).map(choiceOf));
    for (const [type, transitions] of node.transitions)
      on.set(type, [...(on.get(type) ?? []), ...transitions.map(choiceOf)]);
  }
  return { always, on };
};
