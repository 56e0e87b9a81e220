import { AgentError, errorData, isInstance } from '../errors.ts';

/** A `store-error` that names the place and the reason; what is an `AgentError` already stays as it is. */
export const storeError = (place: string, thrown: unknown): AgentError =>
  isInstance(thrown, AgentError)
    ? thrown
    : new AgentError('store-error', `${place}: ${errorData(thrown).message}`, { cause: thrown });
