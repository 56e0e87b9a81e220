import type { JsonValue } from '../../messages/json.ts';
import type { Usage } from '../../messages/usage.ts';
import { hasKeys, isJsonObject } from './json-value.ts';

const count = (value: JsonValue | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

const detail = (value: JsonValue | undefined, key: string): number | undefined =>
  isJsonObject(value) ? count(value[key]) : undefined;

/** Usage in our words, from Chat Completions or Responses; `undefined` where nothing was counted. */
export const readUsage = (value: JsonValue | undefined): Usage | undefined => {
  if (!isJsonObject(value)) return undefined;
  const inputTokens = count(value.prompt_tokens) ?? count(value.input_tokens);
  const outputTokens = count(value.completion_tokens) ?? count(value.output_tokens);
  const known = inputTokens !== undefined && outputTokens !== undefined ? inputTokens + outputTokens : undefined;
  const totalTokens = count(value.total_tokens) ?? known;
  const cachedInputTokens =
    detail(value.prompt_tokens_details, 'cached_tokens') ??
    detail(value.input_tokens_details, 'cached_tokens') ??
    count(value.cached_tokens) ??
    count(value.prompt_cache_hit_tokens);
  const reasoningTokens =
    detail(value.completion_tokens_details, 'reasoning_tokens') ??
    detail(value.output_tokens_details, 'reasoning_tokens');
  const usage = {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(totalTokens === undefined ? {} : { totalTokens }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
  return hasKeys(usage) ? usage : undefined;
};
