import { describe, expect, test } from 'vitest';
import { StateMachine } from 'xstate';
import { z } from 'zod';
import { type AgentMachine, AgentError, createAgent } from '../../src/index.ts';
import type { ToolCallMachine } from '../../src/machines/tool-call.ts';
import { ExplorationError, type ExplorationReport, type ExploreOptions, explore } from '../../src/testing/index.ts';
import { outsideTool, toolOf } from '../support/tools.ts';
import { completeOptions } from '../../src/testing/explore/explore-options.ts';
import { exploredAgents } from './explored-agents.ts';

/** What no session gets to, and why. It may not grow. */
const unreachable: Record<string, string> = {
  'agent.awaiting-approval: xstate.done.actor.deadline [isPastDeadline] → stays':
    'the alarm is stopped while people are waited for; the event stands among those that both states of an open round take',
  'agent.awaiting-approval: user.message → stays':
    'somebody is pending there, so a branch before it is taken; in `acting` it is',
  'toolCall.settled: call.stop → stays': 'only where a stop and the end of a call cross: a round asks its open calls',
  'toolCall.settled: call.cancel → stays':
    'only where a cancel and the end of a call cross: a round asks its open calls',
};

const unreachedOf = ({ charts: { agent, toolCall } }: ExplorationReport): string[] =>
  [agent.states, agent.edges, toolCall.states, toolCall.edges].flatMap(({ unreached }) => unreached);

const reports: ExplorationReport[] = [];

describe('the shipped charts', () => {
  test.each(Object.entries(exploredAgents))(
    'R6, R24, R35: with %s no state breaks an invariant, runs for ever, hangs or cannot be stopped',
    (name, [agent, options]) => {
      const report = explore(agent.machine, options);
      reports.push(report);
      console.log(`${name}: ${report.states} states, ${report.steps} steps, at most ${report.longestRun} in a row`);
      expect(report.charts.agent.states.reached).toContain('agent.done');
      expect(report.states).toBeGreaterThan(20);
    },
  );

  test('every state and every edge of both charts is reached, but for those that are known to be unreachable', () => {
    expect(reports).toHaveLength(Object.keys(exploredAgents).length);
    const [first = [], ...others] = reports.map(unreachedOf);
    const nowhere = first.filter((name) => others.every((unreached) => unreached.includes(name)));
    expect(nowhere).toEqual(Object.keys(unreachable));
  });
});

const model = { name: 'none', generate: () => Promise.reject(new Error('nobody asks it')) };
const small: ExploreOptions = { limits: { maxIterations: 1, maxConsecutiveErrors: 0 } };

const toolCallOf = (machine: AgentMachine): ToolCallMachine => {
  const toolCall: unknown = machine.implementations.actors['toolCall'];
  if (!(toolCall instanceof StateMachine)) throw new Error('no chart of calls');
  return toolCall as unknown as ToolCallMachine;
};

/** A copy of the charts in which one guard always holds, or never. */
const withGuard = (machine: AgentMachine, guard: string, holds: boolean): AgentMachine =>
  machine.provide({ guards: { [guard]: () => holds } });
const withCallGuard = (machine: AgentMachine, guard: string, holds: boolean): AgentMachine =>
  machine.provide({
    actors: { toolCall: toolCallOf(machine).provide({ guards: { [guard]: () => holds } }) },
  });

const problemsOf = (machine: AgentMachine, options: ExploreOptions = small): string[] => {
  try {
    explore(machine, options);
  } catch (error) {
    if (error instanceof ExplorationError) return error.problems.map(({ rule }) => rule);
    throw error;
  }
  return [];
};

describe('a changed copy of the charts is found out', () => {
  const plain = createAgent({ model, retry: { attempts: 2 } }).machine;
  const withFallback = createAgent({ model, fallback: [model], retry: { attempts: 1 } }).machine;
  const withRetry = createAgent({
    model,
    tools: [toolOf('plain', () => 'done', { retry: { attempts: 2 } })],
    retry: { attempts: 1 },
  }).machine;
  const withOutput = createAgent({ model, output: z.object({}), retry: { attempts: 1 } }).machine;
  const plainCall = { ...small, calls: [['plain']] };
  const finalAnswer = { ...small, calls: [['final_answer']] };
  const failing = { limits: { ...small.limits, onLimit: 'fail' as const } };

  test.each([
    ['as they are', plain, small],
    ['with a fallback', withFallback, small],
    ['with a tool that is tried again', withRetry, plainCall],
    ['with a structured answer', withOutput, finalAnswer],
    ['with limits that fail', plain, failing],
  ])('%s there is nothing to find', (_, machine, options) => {
    expect(problemsOf(machine, options)).toEqual([]);
  });

  test.each([
    ['isWithinIterations', plain, small],
    ['mayRetry', plain, small],
    ['mayFallBack', withFallback, small],
    ['mayAskAgain', plain, small],
    ['finalizes', withOutput, { ...finalAnswer, singleTurn: true }],
  ])('R24: without the limit guard %s a turn goes on for ever', (guard, machine, options) => {
    expect(problemsOf(withGuard(machine, guard, true), options)).toEqual(['endless']);
  });

  test('R24: without the limit guard mayRetry of calls a call goes on for ever', () => {
    expect(problemsOf(withCallGuard(withRetry, 'mayRetry', true), plainCall)).toEqual(['endless']);
  });

  test('R24: without the guard hasQueued turns begin that nobody asked for', () => {
    expect(problemsOf(withGuard(plain, 'hasQueued', true))).toEqual(['invariant']);
  });

  test('R24: without the guard someoneWorks the chart turns round within one event, and breaks instead of hanging', () => {
    expect(problemsOf(withGuard(plain, 'someoneWorks', true))).toEqual(['broken']);
  });

  test.each<[string, string, boolean, string, AgentMachine, ExploreOptions]>([
    ['a round that never closes', 'closesRound', false, 'invariant', plain, small],
    ['R6: a round that closes too early', 'closesRound', true, 'invariant', plain, small],
    ['a wait that is told to nobody', 'onlyPeopleLeft', false, 'dead-end', plain, small],
    ['R35: a stop that is not taken', 'isWellFormed', false, 'unstoppable', plain, small],
    ['R35: a stop after which the model is asked', 'isStopping', false, 'unstoppable', plain, small],
    ['a failed turn that counts as limited', 'hasFailed', false, 'invariant', plain, failing],
    ['a limited turn that counts as answered', 'isLimited', false, 'invariant', withOutput, finalAnswer],
    ['a single turn that stays open', 'isSingleTurn', false, 'invariant', plain, { ...small, singleTurn: true }],
  ])('%s: guard %s always gives %s', (_, guard, holds, rule, machine, options) => {
    expect(problemsOf(withGuard(machine, guard, holds), options)).toEqual([rule]);
  });

  test('a call whose check is not listened to', () => {
    expect(problemsOf(withCallGuard(plain, 'isSettledBy', false))).toEqual(['invariant']);
  });
});

describe('explore', () => {
  test('refuses guards and actions that its charts do not have, and says which there are', () => {
    const { machine } = createAgent({ model });
    const guards = { isWithinIteration: () => true } as object;
    const toolCall = toolCallOf(machine).provide({ guards });
    const wrong: [object, string][] = [
      [{ guards }, 'the chart of agents has no guard "isWithinIteration"; it has: hasQueued, '],
      [{ actions: { startTurns: () => undefined } }, 'the chart of agents has no action "startTurns"; it has: '],
      [{ actors: { toolCall } }, 'the chart of calls has no guard "isWithinIteration"; it has: isThisCall, '],
    ];
    for (const [implementations, message] of wrong)
      expect(() => explore(machine.provide(implementations), small)).toThrow(
        expect.objectContaining({ code: 'invalid-option', message: expect.stringContaining(message) }),
      );
  });

  test('throws an error that names the rule, the state and the way there', () => {
    const { machine } = createAgent({ model, retry: { attempts: 1 } });
    let thrown: unknown;
    try {
      explore(withGuard(machine, 'isStopping', false), small);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ExplorationError);
    expect(thrown).toBeInstanceOf(AgentError);
    const { code, problems, message } = thrown as ExplorationError;
    expect(code).toBe('unsound-chart');
    expect(problems[0]).toMatchObject({ rule: 'unstoppable', path: expect.arrayContaining(['the start (idle)']) });
    expect(message).toContain('unstoppable in ');
    expect(JSON.parse(JSON.stringify(thrown))).toMatchObject({ code: 'unsound-chart', problems });
  });

  test('leaves the machine that it was given as it was, and gives the same report again', () => {
    const { machine } = createAgent({ model, retry: { attempts: 1 } });
    const { options, implementations } = machine;
    const first = explore(machine, small);
    expect(machine.options).toBe(options);
    expect(machine.implementations).toBe(implementations);
    expect(explore(machine, small)).toEqual(first);
  });

  test('completes limits with its defaults, where some are given and where one is undefined', () => {
    const { machine } = createAgent({ model, retry: { attempts: 1 } });
    const limitsOf = (limits: NonNullable<ExploreOptions['limits']>) => completeOptions({ limits }, machine).limits;
    expect(limitsOf({ maxConsecutiveErrors: 0 })).toEqual({ maxIterations: 2, maxConsecutiveErrors: 0 });
    expect(limitsOf({ maxIterations: undefined as never, onLimit: 'fail' })).toEqual({
      maxIterations: 2,
      maxConsecutiveErrors: 1,
      onLimit: 'fail',
    });
  });

  test('says of limits that are too wide that there are too many states, not that the chart is endless', () => {
    const { machine } = createAgent({ model, retry: { attempts: 1 } });
    const wide = { maxStates: 600, limits: { maxIterations: 100, maxConsecutiveErrors: 0 } };
    expect(() => explore(machine, wide)).toThrow(/more than 600 states/);
  });

  test('calls each tool of the agent by itself, of tools that the charts treat alike the first', () => {
    const inner = createAgent({ model }).asTool({ name: 'inner', description: 'asks another agent' });
    const tools = [toolOf('a', () => 1), toolOf('b', () => 2), outsideTool('c'), inner];
    const { machine } = createAgent({ model, tools, retry: { attempts: 1 } });
    const options = { ...small, singleTurn: true };
    const report = explore(machine, options);
    expect(report).toEqual(explore(machine, { ...options, calls: [['a'], ['c'], ['inner']] }));
    expect(report.charts.toolCall.states.reached).toContain('toolCall.awaiting-result');
  });

  test('refuses what is no machine of an agent, and a walk that is too long', () => {
    const agent = createAgent({ model });
    const { machine } = agent;
    expect(() => explore(machine.provide({ actors: { toolCall: undefined as never } }))).toThrow(/give agent.machine/);
    expect(() => explore(agent as never)).toThrow(/give agent.machine/);
    expect(() => explore(machine, { maxStates: 20 })).toThrow(/more than 20 states/);
  });
});
