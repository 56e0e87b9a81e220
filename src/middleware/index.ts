export { type CacheOptions, type ReplyStore, cache } from './cache.ts';
export { type LogEntry, type LogLevel, type Logging, type LogTarget, type LoggingOptions, logging } from './logging.ts';
export { type RateLimitOptions, rateLimit } from './rate-limit.ts';
export { redactSecrets } from './redact-secrets.ts';
