import { StateMachine, type AnyStateMachine } from 'xstate';
import { createAgent } from '../src/index.ts';

const agent = createAgent({ model: { name: 'none', generate: () => Promise.reject(new Error('only drawn')) } });
const toolCall: unknown = agent.machine.implementations.actors['toolCall'];
if (!(toolCall instanceof StateMachine)) throw new Error('the agent has no machine named "toolCall"');

/** The machines that the package ships, by the names of their pictures in docs. */
export const shippedMachines: Record<string, AnyStateMachine> = { agent: agent.machine, 'tool-call': toolCall };
