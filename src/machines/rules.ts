import type { CallResult, ToolChange, ToolRef } from '../tools/call.ts';
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
  /** The answer must fit a schema; `tool` names the tool by which the model gives it, absent where the provider holds it to the schema. */
  output: { tool?: string } | undefined;
  /** ms that running tools get after a stop before they are left behind. Default 1,000. */
  stopGrace: number;
  retry: RetryRules;
  /** Number of fallback models. */
  fallbacks: number;
  hasStopWhen: boolean;
  /** Equal rounds in a row that make a loop suspected, and whether that ends the turn (R23). */
  loopDetection: { threshold: number; stop: boolean };
  isPolling(ref: ToolRef): boolean;
  isKnown(ref: ToolRef): boolean;
  /** Somebody may have to be asked before this call runs, or it is not a tool that runs here. */
  needsCheck(ref: ToolRef): boolean;
  isSequential(ref: ToolRef): boolean;
  isAnsweredOutside(ref: ToolRef): boolean;
  returnsDirect(ref: ToolRef): boolean;
  /** The tool is an agent. */
  isAgent(ref: ToolRef): boolean;
  /** What that agent is asked. */
  agentMessage(ref: ToolRef, input: unknown): string;
  /** Tries in all and the wait before the next one, for one tool. */
  toolRetry(ref: ToolRef): Pick<RetryRules, 'attempts' | 'initialDelay' | 'maxDelay'>;
  /** Tools that were added to a turn that is over. */
  forgetTools(changes: readonly ToolChange[]): void;
  /** Somebody wants to know when a turn is over. */
  tellsTurns: boolean;
  /** A history provider has what was said in earlier turns. */
  keepsElsewhere: boolean;
  /** What a value given in a tool's place becomes (R15). */
  toResult(ref: ToolRef, value: unknown): CallResult;
  /** ms since 1970: the one clock of the charts. */
  now(): number;
  newId(): string;
}

/** Wait before try number `attempt + 1`, in ms: exponential up to `maxDelay`. */
export const backoff = (
  { initialDelay, maxDelay, factor }: Pick<RetryRules, 'initialDelay' | 'maxDelay' | 'factor'>,
  attempt: number,
): number => Math.min(maxDelay, initialDelay * factor ** (attempt - 1));
