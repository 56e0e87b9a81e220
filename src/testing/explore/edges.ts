import type { AnyStateMachine, AnyStateNode } from 'xstate';

type Transition = NonNullable<AnyStateNode['always']>[number];

const nodesOf = (node: AnyStateNode): AnyStateNode[] => [
  node,
  ...(Object.values(node.states) as AnyStateNode[]).flatMap(nodesOf),
];

const guardName = (guard: unknown): string => {
  if (guard === undefined) return '';
  if (typeof guard === 'string') return ` [${guard}]`;
  const { type, params } = guard as { type?: unknown; params?: unknown };
  const fixed = typeof params === 'object' && params !== null ? `(${Object.values(params).join(', ')})` : '';
  return typeof type === 'string' ? ` [${type}${fixed}]` : ' [inline]';
};

const describe = (node: AnyStateNode, event: string, { guard, target }: Transition): string => {
  const to = target?.map(({ id }) => id).join(', ') ?? 'stays';
  return `${node.id}: ${event === '' ? 'always' : event}${guardName(guard)} → ${to}`;
};

/** The states and the edges of a chart as it is defined. Edges that read alike are one. */
export interface Definition {
  states: string[];
  edges: Map<object, string>;
}

export const definitionOf = (machine: AnyStateMachine): Definition => {
  const nodes = nodesOf(machine.root);
  const edges = new Map<object, string>();
  for (const node of nodes) {
    const lists: (readonly [string, readonly Transition[]])[] = [['', node.always ?? []], ...node.transitions];
    for (const [event, transitions] of lists)
      for (const transition of transitions) edges.set(transition, describe(node, event, transition));
  }
  return { states: nodes.map(({ id }) => id), edges };
};
