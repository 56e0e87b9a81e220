import type { AnyStateMachine, StateNode } from 'xstate';
import { isPlainObject } from '../messages/json.ts';

type Nodes = Readonly<Record<string, Pick<StateNode, 'states' | 'type'>>>;

/** The states of a stored value that a chart does not have, and those at which the value ends though they have states of their own. */
export const stateNames = (machine: AnyStateMachine, value: unknown): { missing: string[]; open: string[] } => {
  const missing: string[] = [];
  const open: string[] = [];
  const walk = (nodes: Nodes, part: unknown, path: string): void => {
    const entries = typeof part === 'string' ? [[part, undefined]] : Object.entries(isPlainObject(part) ? part : {});
    for (const [key, inner] of entries) {
      const name = String(key);
      const node = Object.hasOwn(nodes, name) ? nodes[name] : undefined;
      if (node === undefined) missing.push(`${path}${name}`);
      else if (inner !== undefined) walk(node.states as Nodes, inner, `${path}${name}.`);
      else if (node.type === 'compound') open.push(`${path}${name}`);
    }
  };
  walk(machine.root.states as Nodes, value, '');
  return { missing, open };
};
