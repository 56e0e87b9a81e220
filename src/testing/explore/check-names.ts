import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { AgentError } from '../../errors.ts';

/** The guards and actions that a state and those in it name. */
const namesIn = (node: AnyStateNode): string[] => {
  const transitions = [...(node.always ?? []), ...[...node.transitions.values()].flat()];
  const guards = transitions.map(({ guard }) => guard as unknown);
  const actions = [node.entry, node.exit, transitions.flatMap((each) => each.actions)].flat();
  const own = [...guards, ...actions].map((each) =>
    typeof each === 'object' && each !== null && 'type' in each ? each.type : each,
  );
  return [
    ...own.filter((each) => typeof each === 'string'),
    ...(Object.values(node.states) as AnyStateNode[]).flatMap(namesIn),
  ];
};

/** Throws `invalid-option` for guards and actions that a chart never asks for: `provide` takes them without a word, and they change nothing. */
export const checkNames = ({ root, implementations }: AnyStateMachine, what: string): void => {
  const used = new Set(namesIn(root));
  for (const kind of ['guards', 'actions'] as const) {
    const names = Object.keys(implementations[kind]);
    const unknown = names.find((name) => !used.has(name));
    if (unknown === undefined) continue;
    const known = names.filter((name) => used.has(name));
    throw new AgentError(
      'invalid-option',
      `explore: the chart of ${what} has no ${kind.slice(0, -1)} "${unknown}"; it has: ${known.join(', ')}`,
    );
  }
};
