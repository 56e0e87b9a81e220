import { attachContext } from '../actors/host.ts';
import type { AgentActors } from './agent-guards.ts';
import { observingState } from './agent-observing.ts';
import { openRoundState } from './agent-open-round.ts';
import { agentSetup } from './agent-setup.ts';
import { thinkingState } from './agent-thinking.ts';
import { initialAgent } from './agent-context.ts';
import type { AgentRules } from './rules.ts';
import { stepped } from './stepped.ts';
import { resultOf } from './turn-result.ts';

const createChart = (rules: AgentRules, actors: AgentActors) => {
  const agent = agentSetup(rules, actors);
  const openRound = openRoundState(agent);
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
      'turn.told': { actions: { type: 'noteTold', params: ({ event }) => event } },
      'message.withdraw': {
        guard: { type: 'isWellFormed', params: ({ event }) => event },
        actions: { type: 'withdraw', params: ({ event }) => event },
      },
    },
    states: {
      idle: {
        always: { guard: 'hasUnread', target: 'thinking', actions: ['startTurn', 'beginWork'] },
        on: { 'session.close': 'closed' },
      },
      thinking: thinkingState(agent),
      acting: {
        tags: 'busy',
        always: { guard: 'onlyPeopleLeft', target: 'awaiting-approval' },
        ...openRound,
      },
      'awaiting-approval': {
        tags: 'waiting',
        entry: 'pauseWork',
        exit: 'beginWork',
        always: { guard: 'someoneWorks', target: 'acting' },
        ...openRound,
      },
      observing: observingState(agent),
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

export type AgentMachine = ReturnType<typeof createChart>;

/**
 * The agent: one actor per session, which lives as long as the conversation does.
 *
 * ```
 * idle → thinking ⇄ acting → observing → thinking … → done → thinking (the next turn) … → closed
 *                     ⇅
 *              awaiting-approval
 * ```
 */
export const createAgentMachine = (rules: AgentRules, actors: AgentActors): AgentMachine =>
  stepped(createChart(rules, actors));
