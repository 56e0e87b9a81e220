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

/** What a transition does from the state that is active: all its actions in their order, and where it leads. */
export interface Way {
  actions: readonly Action[];
  /** Absent where no state is left or entered. */
  to?: { _nodes: readonly Node[]; value: StateValue; tags: ReadonlySet<string> };
  isFinal: boolean;
}

/** From the root to the state. */
const lineOf = (node: Node | undefined): Node[] => (node === undefined ? [] : [...lineOf(node.parent), node]);

const valueOf = (line: readonly Node[]): StateValue => {
  const [first, ...rest] = line;
  if (first === undefined) return {};
  return rest.length === 0 ? first.key : { [first.key]: valueOf(rest) };
};

/** The states that are entered with one because nothing else is said. */
const initialOf = (node: Node): Node[] => node.initial.target.flatMap((each) => [each, ...initialOf(each)]);

const leaving = ({ exit, invoke }: Node): Action[] => [...exit, ...invoke.map(({ id }) => stopChild(id))];

const entering = ({ entry, invoke }: Node): Action[] => [
  ...entry,
  ...invoke.map((each) => spawnChild(each.src as never, { ...each } as never) as Action),
];

const moving = (
  left: readonly Node[],
  entered: readonly Node[],
  staying: readonly Node[],
  actions: readonly Action[],
): Way => {
  const nodes = [...staying, ...entered];
  return {
    actions: [...left.toReversed().flatMap(leaving), ...actions, ...entered.flatMap(entering)],
    to: { _nodes: nodes, value: valueOf(nodes.slice(1)), tags: new Set(nodes.flatMap(({ tags }) => tags)) },
    isFinal: nodes.length === 2 && nodes[1]?.type === 'final',
  };
};

/** How a chart begins. */
export const firstWay = ({ root }: AnyStateMachine): Way => {
  const node = root as unknown as Node;
  return moving([], [node, ...initialOf(node)], [], []);
};

/** Of charts without parallel states, history and transitions that enter their own state again. */
export const wayOf = (leaf: Node, { source, target, actions }: Transition): Way => {
  const to = target?.[0];
  if (to === undefined) return { actions, isFinal: false };
  const active = lineOf(leaf);
  const line = lineOf(to);
  // Of a state that leads into itself it stays; else the nearest that both are in does.
  const depth = line.includes(source)
    ? lineOf(source).length
    : line.findLastIndex((node) => lineOf(source.parent).includes(node)) + 1;
  return moving(active.slice(depth), [...line.slice(depth), ...initialOf(to)], active.slice(0, depth), actions);
};
