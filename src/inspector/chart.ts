import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { checkMachine } from './check-machine.ts';

/**
 * A machine as data: what a picture, a page or a test of the chart's shape needs. Plain JSON, in document order. Nodes are
 * named by XState's own ids (`agent.thinking.asking`), so they match `_nodes`, microsteps and `getPersistedSnapshot` values.
 */
export interface Chart {
  id: string;
  nodes: ChartNode[];
  edges: ChartEdge[];
}

export interface ChartNode {
  id: string;
  key: string;
  type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history' | 'deep-history';
  /** `null` for the root. */
  parent: string | null;
  /** The child that is entered first; for a history node, where it goes before there is a history. */
  initial: string | null;
  invokes: ChartInvoke[];
  tags: string[];
  description: string | null;
}

/** `src` is `null` where the logic is inline and so has no name. */
export interface ChartInvoke {
  id: string;
  src: string | null;
}

/**
 * One arrow. A transition with several targets gives one edge for each, with the same `event` and `guard`.
 * - `done`, `error`, `snapshot`: what a child says; `done` also when a compound state reaches its final state.
 * - `forbidden`: the event stops here, though an ancestor would take it.
 */
export interface ChartEdge {
  /** Unique in its chart and the same for every machine of the same config. */
  id: string;
  source: string;
  /** `null` when the state stays as it is. */
  target: string | null;
  /** XState's own event type, `''` for `always`. */
  event: string;
  kind: 'on' | 'always' | 'after' | 'done' | 'error' | 'snapshot' | 'forbidden';
  /** What a person calls the event: `user.message`, `done: model`, `after 1000`; `''` for `always`. */
  label: string;
  /** Guards by name, with fixed parameters: `breaksLimit(rest)`, `and(a, not(b))`, `inline` for a function without a name. */
  guard: string | null;
  /** True when the source is neither left nor entered again. */
  internal: boolean;
  actions: string[];
  description: string | null;
}

type Transition = NonNullable<AnyStateNode['always']>[number];

/**
 * Never starts the machine; works for any XState 5 machine. Inline functions have no names to show: see `ChartEdge`. Throws
 * `invalid-option` for what is no machine.
 */
export const chartOf = (machine: AnyStateMachine): Chart => {
  checkMachine(machine, 'chartOf');
  const all = descendants(machine.root);
  return { id: machine.id, nodes: all.map(toNode), edges: all.flatMap(edgesOf) };
};

/** The edges' ids by the machine's own transitions, which microsteps name. */
export const edgeIdsOf = (machine: AnyStateMachine): WeakMap<object, string[]> => {
  const ids = new WeakMap<object, string[]>();
  for (const node of descendants(machine.root)) {
    for (const [event, transitions] of listsOf(node)) {
      for (const [index, transition] of transitions.entries())
        ids.set(
          transition,
          edgesOfTransition(node, event, transition, index).map(({ id }) => id),
        );
    }
  }
  return ids;
};

const descendants = (node: AnyStateNode): AnyStateNode[] => [node, ...childrenOf(node).flatMap(descendants)];

const childrenOf = (node: AnyStateNode): AnyStateNode[] => Object.values(node.states);

const toNode = (node: AnyStateNode): ChartNode => ({
  id: node.id,
  key: node.key,
  type: node.type === 'history' && node.history === 'deep' ? 'deep-history' : node.type,
  parent: node.parent?.id ?? null,
  initial: initialOf(node),
  invokes: node.invoke.map(({ id, src }) => ({
    id,
    src: typeof src !== 'string' || src.startsWith('xstate.invoke.') ? null : src,
  })),
  tags: [...node.tags],
  description: node.description ?? null,
});

const initialOf = (node: AnyStateNode): string | null => {
  if (node.type === 'compound') return node.initial.target[0]?.id ?? null;
  if (node.type !== 'history') return null;
  const target: unknown = node.config.target;
  if (typeof target !== 'string') return node.parent === undefined ? null : initialOf(node.parent);
  return target.startsWith('#')
    ? target.slice(1)
    : (childrenOf(node.parent ?? node).find(({ key }) => key === target)?.id ?? null);
};

const listsOf = (node: AnyStateNode): (readonly [string, readonly Transition[]])[] => [
  ['', node.always ?? []],
  ...node.transitions,
];

const edgesOf = (node: AnyStateNode): ChartEdge[] =>
  listsOf(node).flatMap(([event, transitions]) =>
    transitions.flatMap((transition, index) => edgesOfTransition(node, event, transition, index)),
  );

const edgesOfTransition = (node: AnyStateNode, event: string, transition: Transition, index: number): ChartEdge[] => {
  const targets = transition.target?.map(({ id }) => id) ?? [null];
  return targets.map((target, at) => toEdge(node, event, transition, target, at === 0 ? `${index}` : `${index}.${at}`));
};

const toEdge = (
  node: AnyStateNode,
  event: string,
  transition: Transition,
  target: string | null,
  at: string,
): ChartEdge => {
  const actions = transition.actions.map(actionName);
  const name = naming(node, event);
  return {
    id: `${node.id}|${event}|${at}`,
    source: node.id,
    target,
    event,
    kind: target === null && actions.length === 0 && event !== '' ? 'forbidden' : name.kind,
    label: name.label,
    guard: transition.guard === undefined ? null : guardName(transition.guard),
    internal: !transition.reenter && (transition.target ?? []).every((end) => isWithin(end, node)),
    actions,
    description: transition.description ?? null,
  };
};

const isWithin = (node: AnyStateNode | undefined, ancestor: AnyStateNode): boolean =>
  node !== undefined && (node === ancestor || isWithin(node.parent, ancestor));

const prefixes = [
  ['xstate.done.actor.', 'done'],
  ['xstate.error.actor.', 'error'],
  ['xstate.snapshot.', 'snapshot'],
] as const;

const naming = (node: AnyStateNode, event: string): Pick<ChartEdge, 'kind' | 'label'> => {
  if (event === '') return { kind: 'always', label: '' };
  if (event.startsWith('xstate.done.state.')) return { kind: 'done', label: 'done' };
  if (event.startsWith('xstate.after.')) {
    return { kind: 'after', label: `after ${event.slice('xstate.after.'.length).replace(`.${node.id}`, '')}` };
  }
  for (const [prefix, kind] of prefixes) {
    if (event.startsWith(prefix)) return { kind, label: `${kind}: ${childName(node, event.slice(prefix.length))}` };
  }
  return { kind: 'on', label: event };
};

/** An id that XState made (`0.agent.thinking`) says nothing; the logic's name does. */
const childName = (node: AnyStateNode, id: string): string => {
  const src: unknown = node.invoke.find((invoke) => invoke.id === id)?.src;
  const made = /^\d+\./.test(id) && id.endsWith(`.${node.id}`);
  if (!made) return id;
  return typeof src === 'string' && !src.startsWith('xstate.invoke.') ? src : 'child';
};

const guardName = (guard: unknown): string => {
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'function') {
    if ('guards' in guard && Array.isArray(guard.guards))
      return `${guard.name}(${guard.guards.map(guardName).join(', ')})`;
    if ('stateValue' in guard)
      return `in ${typeof guard.stateValue === 'string' ? guard.stateValue : JSON.stringify(guard.stateValue)}`;
    return named(guard.name, 'guard');
  }
  return `${typeOf(guard)}${paramsOf(guard)}`;
};

/** Fixed parameters tell two uses of one guard apart: `endedAs(ok)`. Those that are computed have no text. */
const paramsOf = (guard: unknown): string => {
  if (typeof guard !== 'object' || guard === null || !('params' in guard)) return '';
  const { params } = guard;
  if (typeof params !== 'object' || params === null) return '';
  const values = Object.values(params).filter((value) => typeof value === 'string' || typeof value === 'number');
  return values.length === 0 ? '' : `(${values.join(', ')})`;
};

const actionName = (action: unknown): string => {
  if (typeof action === 'string') return action;
  if (typeof action === 'function') {
    return 'type' in action && typeof action.type === 'string'
      ? action.type.replace('xstate.', '')
      : named(action.name, 'actions');
  }
  return typeOf(action);
};

/** JavaScript names an inline function after the key that it stands at, which is no name. */
const named = (name: string, key: string): string => (name === '' || name === key ? 'inline' : name);

const typeOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
    ? value.type
    : 'inline';
