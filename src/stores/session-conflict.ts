import { AgentError } from '../errors.ts';

/** Somebody else has written the session meanwhile. Nothing of the refused commit is stored; open the session again to go on. */
export class SessionConflictError extends AgentError {
  override readonly name = 'SessionConflictError';
  readonly sessionId: string;

  constructor(sessionId: string, what = 'another process has written or deleted it meanwhile') {
    super('session-conflict', `session "${sessionId}": ${what}; nothing was stored, open the session again to go on`);
    this.sessionId = sessionId;
  }
}
