import type { Usage } from '../../messages/usage.ts';
import type { GivenUsage } from './provider-types.ts';

/** Not every provider counts all that its type says. */
type Counted = { [Kind in keyof GivenUsage]?: Partial<GivenUsage[Kind]> };

/** Usage in our words; `undefined` where nothing was counted. The AI SDK nests the kinds under their totals. */
export const readUsage = ({ inputTokens = {}, outputTokens = {} }: Counted = {}): Usage | undefined => {
  const input = inputTokens.total;
  const output = outputTokens.total;
  const usage: Usage = {
    ...(input === undefined ? {} : { inputTokens: input }),
    ...(output === undefined ? {} : { outputTokens: output }),
    ...(input === undefined || output === undefined ? {} : { totalTokens: input + output }),
    ...(inputTokens.cacheRead === undefined ? {} : { cachedInputTokens: inputTokens.cacheRead }),
    ...(outputTokens.reasoning === undefined ? {} : { reasoningTokens: outputTokens.reasoning }),
  };
  return Object.keys(usage).length === 0 ? undefined : usage;
};
