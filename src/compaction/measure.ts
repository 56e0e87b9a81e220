import type { Message } from '../messages/message.ts';
import type { Usage } from '../messages/usage.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** What a provider counted in a model call: what was sent, and the reply. Undefined where it did not say. */
export const tokensCounted = (usage: Usage | undefined): number | undefined => {
  const sum = usage?.totalTokens ?? (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  return sum > 0 ? sum : undefined;
};

/**
 * Gives the size of what would be sent. `counted` is what the provider said of `first`, up to its last reply; the rest, and what changes
 * afterwards, is estimated.
 */
export const createMeasure = (
  first: readonly Message[],
  counted: number | undefined,
  countTokens: ((messages: readonly Message[]) => number) | undefined,
): ((messages: readonly Message[]) => number) => {
  if (countTokens !== undefined) return countTokens;
  if (counted === undefined) return estimateTokens;
  const upTo = first.findLastIndex(({ role }) => role === 'assistant') + 1;
  const known = counted - estimateTokens(first.slice(0, upTo));
  return (messages) => known + estimateTokens(messages);
};
