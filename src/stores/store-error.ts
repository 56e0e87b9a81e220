import { AgentError, errorData, isInstance } from '../errors.ts';

/** Some errors of the network carry their reason in the code alone. */
const reasonOf = (thrown: unknown): string => {
  const { message, code } = errorData(thrown);
  return message === '' ? (code ?? 'unknown reason') : message;
};

/** A `store-error` that names the place and the reason; what is an `AgentError` already stays as it is. */
export const storeError = (place: string, thrown: unknown): AgentError =>
  isInstance(thrown, AgentError)
    ? thrown
    : new AgentError('store-error', `${place}: ${reasonOf(thrown)}`, { cause: thrown });
