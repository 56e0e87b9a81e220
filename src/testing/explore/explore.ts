import { AgentError } from '../../errors.ts';
import type { AgentMachine } from '../../machines/agent.ts';
import { type FaultAt, analyse } from './analyse.ts';
import { definitionOf } from './edges.ts';
import { ExplorationError, type Problem } from './exploration-error.ts';
import { type ExploreOptions, completeOptions } from './explore-options.ts';
import type { Rule } from './invariants.ts';
import { scriptMachine } from './scripted-machine.ts';
import { type Place, walk } from './walk.ts';

export type { ExploreOptions };

/** What is reached of one chart. Names are `state: event [guard] → target`. */
export interface ChartCoverage {
  states: { reached: string[]; unreached: string[] };
  edges: { reached: string[]; unreached: string[] };
}

export interface ExplorationReport {
  /** States of a session that differ in what can follow. */
  states: number;
  /** Things that were let happen. */
  steps: number;
  /** The most steps in a row without anybody outside. */
  longestRun: number;
  /** Of the agent's chart and of a call's. */
  charts: { agent: ChartCoverage; toolCall: ChartCoverage };
}

/** Steps in a row that no reply with its calls takes as many of. */
const maxRunOfRound = 100;

const pathTo = (place: Place): string[] => {
  const path: string[] = [];
  for (let at: Place | undefined = place; at !== undefined; at = at.from) path.unshift(`${at.by} (${at.state})`);
  // Of a turn that never ends the beginning says enough.
  return path.length > 40 ? [...path.slice(0, 40), `… ${path.length - 40} more`] : path;
};

/** The first of each rule: the others mostly are the same again. */
const problemsOf = (faults: readonly FaultAt[]): Problem[] => {
  const first = new Map<Rule, FaultAt>();
  for (const fault of faults) if (!first.has(fault.rule)) first.set(fault.rule, fault);
  return [...first.values()].map(({ rule, message, at }) => ({ rule, message, state: at.state, path: pathTo(at) }));
};

const split = (all: readonly string[], isReached: (name: string) => boolean): ChartCoverage['states'] => ({
  reached: all.filter((name) => isReached(name)),
  unreached: all.filter((name) => !isReached(name)),
});

/**
 * Walks an agent's charts to every state that can be reached, with the real guards and actions and with effects that come to everything
 * they can come to: the model answers, calls, refuses, fails; tools run, fail, time out; people approve, edit, reject, stop, retry.
 * No model is asked, no tool runs, no time passes.
 *
 * Throws `ExplorationError` (`unsound-chart`) where a state breaks an invariant, work goes on for ever, nothing can happen any more, or a
 * stop does not stop; `AgentError` (`invalid-option`) where there are more than `maxStates`, and for options that nobody knows, that are
 * out of bounds or name a tool that the agent does not have. What an agent's options switch off is no error: it stands in the report as unreached.
 *
 * States are told apart by all that may matter for what follows, not by text, ids, times and usage; limits on tokens are not looked at.
 */
export const explore = (machine: AgentMachine, options: ExploreOptions = {}): ExplorationReport => {
  const { agent, toolCall } = scriptMachine(machine);
  const { calls, limits, maxStates, singleTurn } = completeOptions(options, machine);
  const maxRun = maxRunOfRound * Math.max(...calls.map(({ length }) => length), 1) * (limits.maxIterations + 1);
  const input = { sessionId: 'explored', singleTurn };
  const walked = walk(agent, [input], { calls, maxStates, maxRun, options: { limits } });
  if (walked.faults.length === 0 && !walked.isComplete) {
    throw new AgentError(
      'invalid-option',
      `explore: there are more than ${maxStates} states; give smaller limits, fewer calls, or a larger maxStates`,
    );
  }
  const faults = walked.faults.length > 0 ? walked.faults : analyse(walked.places);
  if (faults.length > 0) throw new ExplorationError(problemsOf(faults));
  const coverage = (chart: typeof agent | typeof toolCall): ChartCoverage => {
    const { states, edges } = definitionOf(chart);
    const taken = new Set([...edges].filter(([edge]) => walked.taken.has(edge)).map(([, name]) => name));
    // A state that is left as soon as it is entered is in no snapshot; that an edge leads out of it tells that it was there.
    const left = new Set([...taken].map((name) => name.split(':')[0]));
    return {
      states: split(states, (id) => walked.visited.has(id) || left.has(id)),
      edges: split([...new Set(edges.values())], (name) => taken.has(name)),
    };
  };
  return {
    states: walked.places.length,
    steps: walked.places.reduce((sum, { next }) => sum + next.length, 0),
    longestRun: Math.max(...walked.places.map(({ run }) => run)),
    charts: { agent: coverage(agent), toolCall: coverage(toolCall) },
  };
};
