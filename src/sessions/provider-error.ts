import { AgentError, errorData } from '../errors.ts';

/** An error of somebody who is asked for a turn, or told of one, with his name. */
export const providerError = (who: string, cause: unknown): AgentError =>
  new AgentError('context-provider-error', `${who}: ${errorData(cause).message}`, { cause });
