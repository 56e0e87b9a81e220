import type { AgentSetup } from './agent-setup.ts';

/** What ends the turn at once from a state in which no call is open. */
export const endingEvents = (agent: AgentSetup) =>
  agent.createStateConfig({
    on: {
      'turn.stop': {
        guard: { type: 'isWellFormed', params: ({ event }) => event },
        target: '#agent.done.stopped',
        actions: { type: 'endStopped', params: ({ event }) => event },
      },
      'xstate.done.actor.deadline': {
        guard: 'isPastDeadline',
        target: '#agent.done.limited',
        actions: { type: 'endLimited', params: { limit: 'deadline' } },
      },
    },
  });
