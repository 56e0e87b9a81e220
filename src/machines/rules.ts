import type { CallResult } from '../tools/call.ts';
import type { Limits } from './turn.ts';

/** How model calls are tried again. */
export interface RetryRules {
  /** Tries in all. Default 3. */
  attempts: number;
  /** ms before the second try. Default 500. */
  initialDelay: number;
  /** ms. Default 30,000. */
  maxDelay: number;
  /** Default 2. */
  factor: number;
  /** Longest `Retry-After` that is waited for, in ms; a longer one fails at once. Default 60,000. */
  maxRetryAfter: number;
}

/** The settings of an agent as its charts read them: checked, complete, and the same for all of its sessions. */
export interface AgentRules {
  limits: Limits;
  concurrency: number;
  hold: 'all' | 'gated';
  /** R33: what a message does while a decision is pending. */
  onMessage: 'queue' | 'supersede' | 'refuse';
  /** ms until a pending approval settles as rejected. */
  expireAfter: number | undefined;
  autopilot: boolean;
  stopOnUnknownTool: boolean;
  /** ms that running tools get after a stop before they are left behind. Default 1,000. */
  stopGrace: number;
  retry: RetryRules;
  /** Number of fallback models. */
  fallbacks: number;
  hasStopWhen: boolean;
  isKnown(tool: string): boolean;
  isSequential(tool: string): boolean;
  isAnsweredOutside(tool: string): boolean;
  returnsDirect(tool: string): boolean;
  /** Tries in all and the wait before the next one, for one tool. */
  toolRetry(tool: string): Pick<RetryRules, 'attempts' | 'initialDelay' | 'maxDelay'>;
  /** What a value given in a tool's place becomes (R15). */
  toResult(tool: string, value: unknown): CallResult;
  /** ms since 1970: the one clock of the charts. */
  now(): number;
  newId(): string;
}

/** Wait before try number `attempt + 1`, in ms: exponential up to `maxDelay`. */
export const backoff = (
  { initialDelay, maxDelay, factor }: Pick<RetryRules, 'initialDelay' | 'maxDelay' | 'factor'>,
  attempt: number,
): number => Math.min(maxDelay, initialDelay * factor ** (attempt - 1));
