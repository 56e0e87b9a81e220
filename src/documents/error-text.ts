import type { ErrorData } from '../errors.ts';
import { isPlainObject } from '../messages/json.ts';

const wordsOf = (output: unknown): string | undefined =>
  isPlainObject(output) && output['type'] === 'error-text' && typeof output['value'] === 'string'
    ? output['value']
    : undefined;

/** With `detailedErrors` the model reads what was thrown: its words are kept there alone, and here how many they are. */
export const withoutErrorText = <T extends ErrorData>(error: T, output: unknown): T => {
  if (error.message === '' || wordsOf(output)?.endsWith(error.message) !== true) return error;
  return { ...error, message: '', length: error.message.length };
};

export const withErrorText = <T extends ErrorData>(error: T, output: unknown): T => {
  const { length, ...rest } = error as T & { length?: unknown };
  const words = wordsOf(output);
  if (words === undefined || typeof length !== 'number') return error;
  return { ...(rest as unknown as T), message: words.slice(-length) };
};
