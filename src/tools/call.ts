import type { ErrorData } from '../errors.ts';
import type { JsonValue } from '../messages/json.ts';
import type { ToolOutput } from '../messages/message.ts';

/** One call of the open round. `input` is what the model gave: an object, or raw text that was not one. */
export interface CallSpec {
  /** Ours, unique in the session; `call_<round>_<index>`. */
  callId: string;
  tool: string;
  input: unknown;
  index: number;
  count: number;
  iteration: number;
}

/** How a call ended. Only `failed` and `timed-out` count as errors of the round (R19). */
export type CallStatus = 'ok' | 'failed' | 'rejected' | 'cancelled' | 'stopped' | 'timed-out' | 'outcome-unknown';

export interface CallResult {
  status: CallStatus;
  /** What the model reads. */
  output: ToolOutput;
  /** The whole error, for people; the model sees `output`. */
  error?: ErrorData;
  /** The arguments that ran, where a human edited them. */
  edited?: JsonValue;
  /** The tool asked that the turn ends after this round (R11). */
  endTurn?: boolean;
  /** Who gave this result, where a human or the application did. */
  by?: string;
}

/** Where a call is, as its round sees it. */
export type CallPhase = 'validating' | 'awaiting-decision' | 'queued' | 'running' | 'awaiting-result' | 'settled';

/** What a waiting call needs, and from whom. `input` stands here only where it differs from what the model asked. */
export interface CallNeeds {
  needs: 'approval' | 'result';
  input?: JsonValue;
  inputHash: string;
  reason?: string;
  /** ms since 1970. */
  expiresAt?: number;
  /** Why the last edit was not taken; the call still waits. */
  refusedEdit?: string;
}

export const isError = (result: CallResult): boolean => result.status === 'failed' || result.status === 'timed-out';

export const textResult = (status: CallStatus, text: string, error?: ErrorData): CallResult => ({
  status,
  output: { type: 'error-text', value: text },
  ...(error === undefined ? {} : { error }),
});

/** R27: a reviewer's reason follows the fixed sentence word for word; a blank one is none. */
export const rejection = (reason?: string): CallResult =>
  textResult('rejected', ['Tool call invocation rejected.', reason?.trim() ? reason : ''].filter(Boolean).join(' '));
