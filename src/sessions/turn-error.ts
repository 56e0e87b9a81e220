import { AgentError } from '../errors.ts';
import type { Outcome } from '../machines/turn.ts';
import type { TurnResult } from '../machines/turn-result.ts';

/** A turn that ended `failed`. The session is whole: it can be opened by `sessionId`, retried, or sent another message. */
export class TurnError extends AgentError {
  override readonly name = 'TurnError';
  /** What the turn had come to. */
  readonly result: TurnResult;
  readonly sessionId: string;
  /** The provider's HTTP status, where it was a model's answer that failed. */
  readonly status: number | undefined;

  constructor(result: TurnResult, outcome: Extract<Outcome, { type: 'failed' }>) {
    super(outcome.code, outcome.error.message, { cause: outcome.error });
    this.result = result;
    this.sessionId = result.sessionId;
    this.status = outcome.error.status;
  }

  override toJSON(): Record<string, unknown> {
    return {
      ...super.toJSON(),
      sessionId: this.sessionId,
      status: this.status,
      cause: this.cause,
      result: this.result,
    };
  }
}

export const failedTurn = (result: TurnResult, outcome: Extract<Outcome, { type: 'failed' }>): TurnError =>
  new TurnError(result, outcome);
