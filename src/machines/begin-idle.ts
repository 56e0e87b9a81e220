import { type AnyActorRef, createActor } from 'xstate';
import type { WakeLogic } from '../actors/wake.ts';
import { initialAgent } from './agent-context.ts';
import type { AgentMachine } from './agent.ts';

/** The agent's chart, of which one that is told nothing yet is idle at once: XState takes as many steps to get there as for a turn. */
export const beginIdle = (machine: AgentMachine, wake: WakeLogic, newId: () => string): AgentMachine => {
  const idle = machine.resolveState({ value: 'idle', context: initialAgent({ sessionId: '' }, newId) });
  const getInitialSnapshot: AgentMachine['getInitialSnapshot'] = (scope, input) => {
    const { message, messages, context } = input ?? {};
    if (message !== undefined || messages !== undefined || context !== undefined)
      return machine.getInitialSnapshot(scope, input);
    const child: AnyActorRef = createActor(wake, { id: 'wake', src: 'wake', parent: scope.self });
    const children = { wake: child } as typeof idle.children;
    return { ...idle, context: initialAgent(input, newId), children };
  };
  return Object.create(machine, { getInitialSnapshot: { value: getInitialSnapshot } }) as AgentMachine;
};
