export { clearToolResults } from './clear-tool-results.ts';
export { compaction } from './compaction.ts';
export type { CompactionOptions } from './compaction.ts';
export { estimateTokens } from './estimate-tokens.ts';
export { keepLast } from './keep-last.ts';
export type { Keep } from './keep.ts';
export type { Strategy } from './strategy.ts';
export { summarize } from './summarize.ts';
export type { SummarizeOptions } from './summarize.ts';
