/**
 * Tokens that a provider counted. `undefined` means that it did not say, which is not zero. `cachedInputTokens` is a part of
 * `inputTokens`, `reasoningTokens` of `outputTokens`.
 */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  cachedInputTokens?: number;
  reasoningTokens?: number;
}

/** The names of what is counted. */
export const usageKinds = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cachedInputTokens',
  'reasoningTokens',
] as const satisfies readonly (keyof Usage)[];

/** Sum by kind. A kind that neither side knows stays absent; one that only one side knows counts as that side says. */
export const addUsage = (a: Usage, b: Usage | undefined): Usage => {
  if (b === undefined) return a;
  const sum: Usage = {};
  for (const kind of usageKinds) {
    // `null` is no `Usage`, but some servers send it, and it means that they did not count.
    const left = a[kind] ?? undefined;
    const right = b[kind] ?? undefined;
    if (left !== undefined || right !== undefined) sum[kind] = (left ?? 0) + (right ?? 0);
  }
  return sum;
};
