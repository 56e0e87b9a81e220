import type { Attributes } from '@opentelemetry/api';
import type { Usage } from '../messages/usage.ts';

const names = [
  ['gen_ai.usage.input_tokens', 'inputTokens'],
  ['gen_ai.usage.output_tokens', 'outputTokens'],
  ['gen_ai.usage.cache_read.input_tokens', 'cachedInputTokens'],
  ['gen_ai.usage.reasoning.output_tokens', 'reasoningTokens'],
] as const satisfies readonly (readonly [string, keyof Usage])[];

/** What the provider did not count is left out. */
export const usageAttributes = (usage: Usage = {}): Attributes =>
  Object.fromEntries(names.flatMap(([name, kind]) => (usage[kind] === undefined ? [] : [[name, usage[kind]]])));
