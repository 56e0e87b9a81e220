import type { AgentErrorCode, ErrorData } from '../errors.ts';
import type { JsonValue } from '../messages/json.ts';
import type { Usage } from '../messages/usage.ts';
import type { ToolChange } from '../tools/call.ts';
import type { ModelSettings, ToolChoice } from '../models/chat-model.ts';

/** How often, how long and how much one turn may do. */
export interface Limits {
  /** Rounds per turn. Default 40. */
  maxIterations: number;
  /** Failing rounds in a row that are reported to the model; the next one ends the turn. Default 3. */
  maxConsecutiveErrors: number;
  /** Tokens of the turn, in and out. Default none. */
  maxTokens?: number;
  /** Calls of the turn. Default none. */
  maxToolCalls?: number;
  /** ms of work; time spent waiting for people does not count. Default none. */
  deadline?: number;
  /** At `maxIterations`: one more model call without tools, rest until `retry`, or fail. Default `finalize`. */
  onLimit: 'finalize' | 'pause' | 'fail';
}

export type LimitName = 'maxIterations' | 'maxTokens' | 'maxToolCalls' | 'deadline' | 'stopWhen' | 'loopDetection';

export type TurnMetadata = Readonly<Record<string, string>>;

/** What a caller may set for one turn; plain JSON, so that it holds over a restore. */
export interface TurnOptions {
  limits?: Partial<Limits>;
  toolChoice?: ToolChoice;
  settings?: ModelSettings;
  /** Short texts that are kept with the turn in the session's document, such as a tenant or a `traceparent`. No model reads them. */
  metadata?: TurnMetadata;
}

/** One of the errors that ended a turn by `error-limit`. */
export interface CallError extends ErrorData {
  callId: string;
  tool: string;
}

/** How a turn ended; `pending` is how it waits. */
export type Outcome =
  /** `callId` where a tool's result is the answer itself. */
  | { type: 'answered'; callId?: string }
  | { type: 'pending' }
  | { type: 'tool-calls' }
  | { type: 'limit'; limit: LimitName; callId?: string }
  | { type: 'refused'; reason: string }
  | { type: 'stopped'; reason?: string }
  | { type: 'failed'; code: AgentErrorCode; error: ErrorData; errors?: CallError[] };

/** From a user message to `done`. */
export interface Turn {
  /** Counts from 1; 0 before the first. */
  number: number;
  /** Where its messages begin in the session's. */
  firstMessage: number;
  /** Where its model calls begin in the session's. */
  firstModelCall: number;
  iterations: number;
  /** Rounds granted by `retry` on top of `maxIterations`. */
  granted: number;
  /** Tokens spent before the last `retry`; they do not count against `maxTokens`. */
  tokensGranted: number;
  consecutiveErrors: number;
  toolCalls: number;
  usage: Usage;
  /** How tools changed the list of tools, oldest first (R12). */
  toolChanges: ToolChange[];
  /** The last round's key, and how many rounds in a row had it (R23). */
  repeats: { key: string; count: number };
  /** Work against the deadline: ms before the present stretch, and when that began (absent while nothing works). */
  work: { ms: number; since?: number };
  options: TurnOptions;
  /** The model request under way: its tries so far, which model (0 = the agent's own, then the fallbacks), empty replies. */
  request: { attempt: number; model: number; emptyReplies: number; retryAt?: number; error?: ErrorData };
  /** Set for the last call without tools. */
  finalizing?: LimitName;
  /** The turn is ending; `limit` where that is not a person's wish. */
  stopping?: { reason?: string; limit?: LimitName };
  /** The structured answer, as the model gave it. */
  output?: JsonValue;
  /** Messages of context providers are in the session. */
  keepsContext?: boolean;
  /** It is over, and those who want to know of it are not told yet. */
  untold?: boolean;
  outcome?: Outcome;
}

export const freshRequest: Turn['request'] = { attempt: 0, model: 0, emptyReplies: 0 };

export const noTurn: Turn = {
  number: 0,
  firstMessage: 0,
  firstModelCall: 0,
  iterations: 0,
  granted: 0,
  tokensGranted: 0,
  consecutiveErrors: 0,
  toolCalls: 0,
  usage: {},
  toolChanges: [],
  repeats: { key: '', count: 0 },
  work: { ms: 0 },
  options: {},
  request: freshRequest,
};

export const limitsOf = (turn: Turn, limits: Limits): Limits => ({ ...limits, ...turn.options.limits });

/** What a provider counted in all, or the sum of what it said. */
export const tokensOf = (usage: Usage): number =>
  usage.totalTokens ?? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
