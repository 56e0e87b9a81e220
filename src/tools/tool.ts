import type { JsonObject } from '../messages/json.ts';
import type { Message, ToolOutput } from '../messages/message.ts';

/**
 * What a tool is told about its call. `callIndex` and `callCount` place it in its round; `attempt` starts at 1 and grows with
 * retries, `idempotencyKey` stays the same over all of them and over restarts.
 */
export interface ToolContext {
  callId: string;
  sessionId: string;
  idempotencyKey: string;
  attempt: number;
  iteration: number;
  callIndex: number;
  callCount: number;
  messages: readonly Message[];
  /** What the application gave to this turn; never stored. */
  context: unknown;
  /** Aborts on stop, cancel and timeout. */
  signal: AbortSignal;
  /** Shows a value while the tool runs. */
  progress(value: unknown): void;
  /** No further model call after this round (R11). */
  endTurn(): void;
}

export interface ApprovalContext {
  callId: string;
  sessionId: string;
  messages: readonly Message[];
  context: unknown;
}

/** What running the tool again does. Neither: a call that was cut off by a crash is reported, not repeated. */
export interface ToolAnnotations {
  readOnly?: boolean;
  idempotent?: boolean;
  destructive?: boolean;
}

export interface ToolRetry {
  /** Tries in all. Default 3. */
  attempts?: number;
  /** ms before the second try. Default 500; doubles up to `maxDelay`. */
  initialDelay?: number;
  /** ms. Default 30,000. */
  maxDelay?: number;
  /** Which errors are worth another try. Default: all. */
  when?: (error: unknown) => boolean;
}

export type InputIssue = { path: string; message: string };
export type InputCheck = { ok: true; value: unknown } | { ok: false; issues: InputIssue[] };

/**
 * A tool as the agent holds it: made by `tool()`, which checks it once. The functions take and give `unknown`, so that tools of
 * all input types stand in one list.
 */
export interface Tool {
  readonly name: string;
  readonly description: string | undefined;
  /** Sent to the model. Root is an object. */
  readonly inputSchema: JsonObject;
  /** Never throws, never rejects. */
  readonly checkInput: (input: unknown) => InputCheck | Promise<InputCheck>;
  /** Absent: the application answers the call (R13). */
  readonly execute: ((input: unknown, ctx: ToolContext) => unknown) | undefined;
  readonly needsApproval: boolean | ((input: unknown, ctx: ApprovalContext) => boolean | Promise<boolean>);
  /** ms for one attempt. */
  readonly timeout: number | undefined;
  readonly retry: Required<Omit<ToolRetry, 'when'>> & Pick<ToolRetry, 'when'>;
  readonly sequential: boolean;
  readonly returnDirect: boolean;
  readonly annotations: ToolAnnotations;
  readonly onInterrupted: 'report' | 'retry' | 'ask';
  /** Characters of a result that the model reads; the rest is cut and the text says so. Default 100,000. */
  readonly maxResultChars: number;
  readonly toModelOutput: ((output: unknown) => ToolOutput) | undefined;
}
