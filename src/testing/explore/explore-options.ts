import { AgentError } from '../../errors.ts';
import type { AgentMachine } from '../../machines/agent.ts';
import type { Limits } from '../../machines/turn.ts';
import { runOptions } from '../../sessions/check-options.ts';
import { toolsOf } from '../../sessions/check-tools.ts';
import { type Bound, type Rules, checkGiven, integer, isA, listOf, notNegative } from '../../sessions/option-bounds.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ToolFinder } from '../../tools/tool-finder.ts';

export interface ExploreOptions {
  /**
   * What replies call: the names of tools, a list for each such reply. `unknown-tool` stands for one that the agent does not have; it is
   * checked, asked for and run like any other. Two calls in one reply take many times as long as one. Default: a reply with one call for
   * each tool that the model is shown, of those that the charts treat alike for the first; without tools `[['unknown-tool']]`.
   */
  calls?: readonly (readonly string[])[];
  /**
   * Of every turn, in place of the agent's: small ones keep the number of states small. Default `{ maxIterations: 2, maxConsecutiveErrors: 1 }`,
   * of which those that are given take the place. No time passes, so a `deadline` is never past; 0, which only `explore` takes, is always.
   */
  limits?: Partial<Limits>;
  /** A session of one turn, as in a parent machine. Default false. */
  singleTurn?: boolean;
  /** More states than these are an error. Default 20,000. */
  maxStates?: number;
}

const isName: Bound['holds'] = (value) => typeof value === 'string';

const rules = {
  calls: listOf(
    "lists of names of tools, such as [['BookTrain'], ['GetWeather', 'BookTrain']]",
    (list) => Array.isArray(list) && list.length > 0 && list.every(isName),
  ),
  limits: { ...runOptions.limits, deadline: notNegative },
  singleTurn: isA('boolean'),
  maxStates: integer(1),
} satisfies Record<keyof ExploreOptions, Rules[string]>;

/** Stands in `calls` for a tool that the agent does not have. */
const unknownTool = 'unknown-tool';

const checkNames = (calls: readonly (readonly string[])[], tools: ToolFinder): void => {
  for (const name of calls.flat()) {
    if (name === unknownTool || tools.find({ tool: name }) !== undefined) continue;
    throw new AgentError(
      'invalid-option',
      `explore: option "calls" names ${JSON.stringify(name)}, which is none of the agent's tools; its tools: ${tools.names([]).join(', ') || 'none'}; "${unknownTool}" stands for one that it does not have`,
    );
  }
};

/** What the charts look at; agents inside calls may differ in what they are asked. */
const kindOf = (tool: Tool): string => {
  const { name, agent, execute, needsApproval, polling, retry, returnDirect, sequential } = tool;
  if (agent !== undefined) return name;
  return JSON.stringify([
    execute === undefined,
    needsApproval === false,
    polling,
    retry.attempts,
    returnDirect,
    sequential,
  ]);
};

const oneOfEachKind = (tools: ToolFinder): string[][] => {
  const first = new Map<string, string>();
  for (const name of tools.names([])) {
    const tool = tools.find({ tool: name });
    const kind = tool === undefined ? name : kindOf(tool);
    if (!first.has(kind)) first.set(kind, name);
  }
  return [...first.values()].map((name) => [name]);
};

const given = <T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;

export interface CompleteOptions {
  calls: readonly (readonly string[])[];
  limits: Partial<Limits> & Pick<Limits, 'maxIterations'>;
  singleTurn: boolean;
  maxStates: number;
}

/** The options of `explore` with every default in its place. Throws `invalid-option` where one is unknown or out of bounds. */
export const completeOptions = (options: ExploreOptions, machine: AgentMachine): CompleteOptions => {
  checkGiven(options, rules, 'explore');
  const { calls, limits = {}, maxStates = 20_000, singleTurn = false } = options;
  const tools = toolsOf(machine);
  if (calls !== undefined && tools !== undefined) checkNames(calls, tools);
  const each = tools === undefined ? [] : oneOfEachKind(tools);
  return {
    calls: calls ?? (each.length > 0 ? each : [[unknownTool]]),
    limits: { maxIterations: 2, maxConsecutiveErrors: 1, ...given(limits) },
    maxStates,
    singleTurn,
  };
};
