import { type AnyStateMachine, StateMachine } from 'xstate';

/** The same chart, and the charts inside it, with XState's own steps. */
export const byXState = <T extends AnyStateMachine>(machine: T): T => {
  const inside = Object.entries(machine.implementations.actors).map(([name, logic]) => [
    name,
    logic instanceof StateMachine ? byXState(logic) : logic,
  ]);
  return machine.provide({ actors: Object.fromEntries(inside) as never }) as T;
};
