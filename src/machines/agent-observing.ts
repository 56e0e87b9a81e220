import type { AgentSetup } from './agent-setup.ts';
import { endingEvents } from './ending-events.ts';

/** The round is over: its results enter the history, and the limits decide whether the model is asked again. */
export const observingState = (agent: AgentSetup) => {
  const endings = endingEvents(agent);
  const onward = [
    { guard: 'isWithinIterations', target: '#agent.thinking', actions: 'goOn' },
    { guard: 'finalizes', target: '#agent.thinking', actions: ['finalize', 'goOn'] },
    { target: '#agent.done.limited', actions: { type: 'endLimited', params: { limit: 'maxIterations' } } },
  ] as const;
  return agent.createStateConfig({
    tags: 'busy',
    entry: 'closeRound',
    initial: 'counting',
    on: {
      ...endings.on,
    },
    states: {
      counting: {
        always: [
          {
            guard: 'isStopping',
            target: '#agent.done.stopped',
            actions: { type: 'endStopped', params: ({ context }) => ({ reason: context.turn.stopping?.reason }) },
          },
          {
            guard: 'isOverdue',
            target: '#agent.done.limited',
            actions: { type: 'endLimited', params: { limit: 'deadline' } },
          },
          { guard: 'tooManyErrors', target: '#agent.done.failed', actions: 'failByErrors' },
          { guard: 'answersDirectly', target: '#agent.done.answered', actions: 'answerDirectly' },
          { guard: 'endsTurn', target: '#agent.done.answered', actions: 'answer' },
          {
            guard: 'loops',
            target: '#agent.done.limited',
            actions: { type: 'endLimited', params: { limit: 'loopDetection' } },
          },
          { guard: 'asksStopWhen', target: 'consulting' },
          ...onward,
        ],
      },
      consulting: {
        invoke: {
          id: 'stopWhen',
          src: 'stopWhen',
          input: ({ context }) => ({ sessionId: context.sessionId }),
          onDone: [
            {
              guard: { type: 'isToStop', params: ({ event }) => event.output },
              target: '#agent.done.limited',
              actions: { type: 'endByStopWhen', params: ({ event }) => event.output },
            },
            ...onward,
          ],
        },
      },
    },
  });
};
