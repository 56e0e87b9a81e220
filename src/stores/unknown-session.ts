import { AgentError } from '../errors.ts';

export const unknownSession = (sessionId: string): AgentError =>
  new AgentError('unknown-session', `there is no session "${sessionId}" in the store`);
