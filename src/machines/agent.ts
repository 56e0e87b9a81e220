import { attachContext } from '../actors/host.ts';
import type { AgentActors } from './agent-guards.ts';
import { agentSetup } from './agent-setup.ts';
import { initialAgent } from './agent-context.ts';
import type { AgentRules } from './rules.ts';
import { resultOf } from './turn-result.ts';

/**
 * The agent: one actor per session, which lives as long as the conversation does.
 *
 * ```
 * idle → thinking ⇄ acting → observing → thinking … → done → thinking (the next turn) … → closed
 *                     ⇅
 *              awaiting-approval
 * ```
 */
export const createAgentMachine = (rules: AgentRules, actors: AgentActors) => {
  const agent = agentSetup(rules, actors);
  // While a round is open the agent listens to the same events, whether calls run or people are waited for.
  const openRound = agent.createStateConfig({
    on: {
      'call.reported': {
        guard: { type: 'isOpenCall', params: ({ event }) => event },
        actions: [{ type: 'noteCall', params: ({ event }) => event }, 'startCalls', 'reportUp'],
      },
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
      'turn.stop': { actions: { type: 'stopCalls', params: ({ event }) => event } },
      'session.woken': { actions: 'askCallsToReport' },
      'xstate.done.actor.deadline': {
        guard: 'isPastDeadline',
        actions: { type: 'stopCalls', params: { limit: 'deadline' } },
      },
      'user.message': [
        { guard: 'refusesMessages', actions: { type: 'refuseMessage', params: ({ event }) => event } },
        {
          guard: 'supersedes',
          actions: [{ type: 'enqueue', params: ({ event }) => ({ event, mode: 'steer' }) }, 'supersede'],
        },
        { guard: 'hasPending', actions: { type: 'enqueue', params: ({ event }) => ({ event, mode: 'steer' }) } },
        { actions: { type: 'enqueue', params: ({ event }) => ({ event }) } },
      ],
    },
  });
  return agent.createMachine({
    id: 'agent',
    context: ({ input, self }) => {
      if (input?.context !== undefined) attachContext(self, input.context);
      return initialAgent(input, rules.newId);
    },
    output: ({ context }) => resultOf(context),
    invoke: { id: 'wake', src: 'wake' },
    initial: 'idle',
    on: {
      'user.message': { actions: { type: 'enqueue', params: ({ event }) => ({ event }) } },
      'message.withdraw': { actions: { type: 'withdraw', params: ({ event }) => event } },
    },
    states: {
      idle: {
        always: { guard: 'hasUnread', target: 'thinking', actions: ['startTurn', 'beginWork'] },
        on: { 'session.close': 'closed' },
      },
      thinking: {
        tags: 'busy',
        entry: 'forgetRound',
        initial: 'asking',
        on: {
          'turn.stop': { target: 'done.stopped', actions: { type: 'endStopped', params: ({ event }) => event } },
          'xstate.done.actor.deadline': {
            guard: 'isPastDeadline',
            target: 'done.limited',
            actions: { type: 'endLimited', params: { limit: 'deadline' } },
          },
        },
        states: {
          asking: {
            entry: 'announceStep',
            invoke: {
              id: 'model',
              src: 'model',
              input: ({ context }) => ({ sessionId: context.sessionId, model: context.turn.request.model }),
              onDone: { target: 'deciding', actions: { type: 'takeOutcome', params: ({ event }) => event.output } },
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
      },
      acting: {
        tags: 'busy',
        always: [
          { guard: 'allSettled', target: 'observing' },
          { guard: 'onlyPeopleLeft', target: 'awaiting-approval' },
        ],
        ...openRound,
      },
      'awaiting-approval': {
        tags: 'waiting',
        entry: 'pauseWork',
        exit: 'beginWork',
        always: [
          { guard: 'allSettled', target: 'observing' },
          { guard: 'someoneWorks', target: 'acting' },
        ],
        ...openRound,
      },
      observing: {
        tags: 'busy',
        entry: 'closeRound',
        initial: 'counting',
        on: {
          'turn.stop': { target: 'done.stopped', actions: { type: 'endStopped', params: ({ event }) => event } },
          'xstate.done.actor.deadline': {
            guard: 'isPastDeadline',
            target: 'done.limited',
            actions: { type: 'endLimited', params: { limit: 'deadline' } },
          },
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
              { target: 'limiting' },
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
                  actions: { type: 'endLimited', params: { limit: 'stopWhen' } },
                },
                { target: 'limiting' },
              ],
            },
          },
          limiting: {
            always: [
              { guard: 'isWithinIterations', target: '#agent.thinking', actions: 'readSteering' },
              { guard: 'finalizes', target: '#agent.thinking', actions: ['finalize', 'readSteering'] },
              {
                target: '#agent.done.limited',
                actions: { type: 'endLimited', params: { limit: 'maxIterations' } },
              },
            ],
          },
        },
      },
      done: {
        tags: 'settled',
        // Not on leaving `observing`: exits run before the actions of the transition, which still look at the round.
        entry: ['pauseWork', 'forgetRound', 'announceEnd'],
        initial: 'answered',
        always: [
          { guard: 'isSingleTurn', target: 'closed' },
          { guard: 'hasQueued', target: 'thinking', actions: ['startTurn', 'beginWork'] },
        ],
        on: {
          'turn.retry': {
            guard: 'mayResume',
            target: 'thinking',
            actions: ['resumeTurn', 'readSteering', 'beginWork'],
          },
          'session.close': 'closed',
        },
        states: {
          answered: { always: { guard: 'isLimited', target: 'limited' } },
          'tool-calls': {},
          limited: { always: { guard: 'hasFailed', target: 'failed' } },
          refused: {},
          failed: {
            // What was queued behind the failed turn has waited for this, and is read first.
            on: {
              'user.message': {
                guard: { type: 'saysSomething', params: ({ event }) => event },
                target: '#agent.thinking',
                actions: [{ type: 'enqueue', params: ({ event }) => ({ event }) }, 'startTurn', 'beginWork'],
              },
            },
          },
          stopped: { entry: 'discardQueued' },
        },
      },
      closed: { type: 'final', tags: 'settled' },
    },
  });
};

export type AgentMachine = ReturnType<typeof createAgentMachine>;
