import { number, record } from './read-plain.ts';
import type { ActorView, ViewState } from './view-state.ts';

export interface Gauge {
  name: string;
  value: number;
  /** Absent: no bound is known. */
  max?: number | undefined;
  unit: 'count' | 'tokens' | 'ms';
}

export interface UsageView {
  input: number;
  output: number;
  total: number;
  cached?: number | undefined;
  reasoning?: number | undefined;
  calls: number;
}

const tokensOf = (usage: Record<string, unknown>): number =>
  number(usage['totalTokens']) ?? (number(usage['inputTokens']) ?? 0) + (number(usage['outputTokens']) ?? 0);

/** How far a turn is from its limits. `now` in ms since 1970: work against a deadline goes on while nothing else happens. */
export const gaugesOf = (view: ViewState, agent: ActorView, now: number): Gauge[] => {
  const turn = record(record(agent.context)['turn']);
  const set = record(record(turn['options'])['limits']);
  const limits: Record<string, unknown> = { ...view.agents[agent.chart ?? '']?.limits, ...set };
  const count = (key: string): number => number(turn[key]) ?? 0;
  const work = record(turn['work']);
  const since = number(work['since']);
  const worked = (number(work['ms']) ?? 0) + (since === undefined ? 0 : Math.max(0, now - since));
  const rounds = number(limits['maxIterations']);
  const tokens = number(limits['maxTokens']);
  return [
    {
      name: 'Rounds',
      value: count('iterations'),
      max: rounds === undefined ? undefined : rounds + count('granted'),
      unit: 'count',
    },
    {
      name: 'Errors in a row',
      value: count('consecutiveErrors'),
      max: number(limits['maxConsecutiveErrors']),
      unit: 'count',
    },
    { name: 'Tool calls', value: count('toolCalls'), max: number(limits['maxToolCalls']), unit: 'count' },
    {
      name: 'Tokens',
      value: Math.max(0, tokensOf(record(turn['usage'])) - count('tokensGranted')),
      max: tokens,
      unit: 'tokens',
    },
    { name: 'Work', value: worked, max: number(limits['deadline']), unit: 'ms' },
  ];
};

/** Tokens of the whole session. */
export const usageOf = (agent: ActorView): UsageView => {
  const { usage, modelCalls } = record(agent.context);
  const counts = record(usage);
  return {
    input: number(counts['inputTokens']) ?? 0,
    output: number(counts['outputTokens']) ?? 0,
    total: tokensOf(counts),
    cached: number(counts['cachedInputTokens']),
    reasoning: number(counts['reasoningTokens']),
    calls: Array.isArray(modelCalls) ? modelCalls.length : 0,
  };
};
