import { AgentError } from '../../errors.ts';
import type { Rule } from './invariants.ts';

/** What is wrong with a chart, and the shortest way there that was found. */
export interface Problem {
  /**
   * - `broken`: the chart threw. `invariant`: something does not hold that must hold in every state.
   * - `endless`: work goes on for ever without anybody outside (R24).
   * - `dead-end`: nothing works, and nobody is waited for. `no-way-to-done`: nothing leads to the end of the turn.
   * - `unstoppable`: a stop is not taken, or does not end the turn (R35).
   */
  rule: Rule;
  message: string;
  /** Where: the name of the state, such as `thinking.asking`. */
  state: string;
  /** What happened, from the start on. */
  path: string[];
}

/** Thrown by `explore`. `problems` holds what is wrong, by rule. */
export class ExplorationError extends AgentError {
  override readonly name = 'ExplorationError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(
      ({ rule, message, state, path }) => `${rule} in ${state}: ${message}\n  after ${path.join(' → ')}`,
    );
    super('unsound-chart', `the chart does not keep what it promises:\n${lines.join('\n')}`);
    this.problems = problems;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), problems: this.problems };
  }
}
