import type { AgentSetup } from './agent-setup.ts';

/** While a round is open the agent listens to the same events, whether calls run or people are waited for. */
export const openRoundState = (agent: AgentSetup) =>
  agent.createStateConfig({
    on: {
      'call.reported': [
        {
          guard: { type: 'closesRound', params: ({ event }) => event },
          target: '#agent.observing',
          actions: [{ type: 'noteCall', params: ({ event }) => event }, 'reportUp'],
        },
        {
          guard: { type: 'isOpenCall', params: ({ event }) => event },
          actions: [{ type: 'noteCall', params: ({ event }) => event }, 'startCalls', 'reportUp'],
        },
      ],
      'approval.granted': {
        guard: { type: 'isPendingCall', params: ({ event }) => event },
        actions: { type: 'decide', params: ({ event }) => event },
      },
      'approval.rejected': {
        guard: { type: 'isPendingCall', params: ({ event }) => event },
        actions: { type: 'decide', params: ({ event }) => event },
      },
      'call.result': {
        guard: { type: 'isPendingCall', params: ({ event }) => event },
        actions: { type: 'decide', params: ({ event }) => event },
      },
      'call.cancel': {
        guard: { type: 'isOpenCall', params: ({ event }) => event },
        actions: { type: 'cancelCall', params: ({ event }) => event },
      },
      'turn.stop': {
        guard: { type: 'isWellFormed', params: ({ event }) => event },
        actions: { type: 'stopCalls', params: ({ event }) => event },
      },
      'session.woken': { actions: 'askCallsToReport' },
      'xstate.done.actor.deadline': {
        guard: 'isPastDeadline',
        actions: { type: 'stopCalls', params: { limit: 'deadline' } },
      },
      'user.message': [
        { guard: 'refusesMessages', actions: { type: 'refuseMessage', params: ({ event }) => event } },
        {
          guard: { type: 'supersedes', params: ({ event }) => event },
          actions: [{ type: 'enqueue', params: ({ event }) => ({ event, mode: 'steer' }) }, 'supersede'],
        },
        { guard: 'hasPending', actions: { type: 'enqueue', params: ({ event }) => ({ event, mode: 'steer' }) } },
        { actions: { type: 'enqueue', params: ({ event }) => ({ event }) } },
      ],
    },
  });
