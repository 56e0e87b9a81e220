import type { AgentSetup } from './agent-setup.ts';
import { endingEvents } from './ending-events.ts';

/** Asks the model, again where that may help, and decides what follows from what it said. */
export const thinkingState = (agent: AgentSetup) => {
  const endings = endingEvents(agent);
  return agent.createStateConfig({
    tags: 'busy',
    initial: 'asking',
    on: {
      ...endings.on,
    },
    states: {
      asking: {
        entry: 'announceStep',
        invoke: {
          id: 'model',
          src: 'model',
          input: ({ context }) => ({ sessionId: context.sessionId, model: context.turn.request.model }),
          // Most replies come to one of the first two; what else there is takes the longer way.
          onDone: [
            {
              guard: { type: 'opensRound', params: ({ event }) => event.output },
              target: '#agent.acting',
              actions: [{ type: 'takeCalls', params: ({ event }) => event.output }, 'announceCalls'],
            },
            {
              guard: { type: 'isAnswer', params: ({ event }) => event.output },
              target: '#agent.done.answered',
              actions: { type: 'takeAnswer', params: ({ event }) => event.output },
            },
            { target: 'deciding', actions: { type: 'takeOutcome', params: ({ event }) => event.output } },
          ],
        },
      },
      'backing-off': {
        invoke: {
          id: 'backoff',
          src: 'alarm',
          input: ({ context }) => ({ at: context.turn.request.retryAt ?? null }),
          onDone: 'asking',
        },
      },
      checking: {
        invoke: {
          id: 'output',
          src: 'checkOutput',
          input: ({ context }) => ({ sessionId: context.sessionId }),
          onDone: [
            {
              guard: { type: 'fitsOutput', params: ({ event }) => event.output },
              target: '#agent.done.answered',
              actions: { type: 'keepOutput', params: ({ event }) => event.output },
            },
            { guard: 'isLastCall', target: '#agent.done.limited', actions: 'finishLast' },
            {
              target: '#agent.observing',
              actions: { type: 'refuseOutput', params: ({ event }) => event.output },
            },
          ],
        },
      },
      deciding: {
        always: [
          { guard: 'mayRetry', target: 'backing-off', actions: 'planRetry' },
          { guard: 'mayFallBack', target: 'asking', actions: 'useFallback' },
          { guard: 'hasError', target: '#agent.done.failed', actions: 'failByModel' },
          { guard: 'isRefused', target: '#agent.done.refused', actions: 'endRefused' },
          { guard: 'mustCheckOutput', target: 'checking' },
          { guard: 'isLastOutput', target: '#agent.acting', actions: ['openRound', 'announceCalls'] },
          { guard: 'isLastCall', target: '#agent.done.limited', actions: 'finishLast' },
          { guard: 'mayAskAgain', target: 'asking', actions: 'askAgain' },
          { guard: 'isEmpty', target: '#agent.done.failed', actions: 'failEmpty' },
          { guard: 'hasNoCalls', target: '#agent.done.answered', actions: ['keepAnswer', 'answer'] },
          { guard: 'isManual', target: '#agent.done.tool-calls', actions: ['leaveToCaller', 'announceCalls'] },
          { guard: 'breaksLimit', target: '#agent.done.limited', actions: 'breakLimit' },
          { guard: 'callsUnknown', target: '#agent.done.failed', actions: 'refuseUnknown' },
          { target: '#agent.acting', actions: ['openRound', 'announceCalls'] },
        ],
      },
    },
  });
};
