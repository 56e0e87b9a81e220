import { type ErrorData, errorData } from '../../errors.ts';
import { ModelError } from '../model-error.ts';

/** What is shorter is a word, such as servers without keys are given, and no secret. */
const shortest = 8;

const causeOf = ({ name, message, cause, ...more }: ErrorData): Error =>
  Object.assign(new Error(message, cause === undefined ? undefined : { cause: causeOf(cause) }), { name, ...more });

/**
 * The same failure without the key in its words, nor in those of its causes: some servers repeat the key that they refuse, and so does the
 * platform where it is no header. Errors are stored with their session, logged and shown.
 */
export const withoutKey = (thrown: unknown, key: string | null | undefined): unknown => {
  if (typeof key !== 'string' || key.length < shortest || !(thrown instanceof ModelError)) return thrown;
  const hide = (text: string): string => text.replaceAll(key, '[redacted]');
  const hideAll = ({ message, cause, ...more }: ErrorData): ErrorData => ({
    ...more,
    message: hide(message),
    ...(cause === undefined ? {} : { cause: hideAll(cause) }),
  });
  const given = errorData(thrown);
  const hidden = hideAll(given);
  if (JSON.stringify(hidden) === JSON.stringify(given)) return thrown;
  const { status, transient, retryAfter, overflow, providerCode } = thrown;
  return new ModelError(thrown.code as ConstructorParameters<typeof ModelError>[0], hidden.message, {
    transient,
    overflow,
    ...(status === undefined ? {} : { status }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(providerCode === undefined ? {} : { providerCode }),
    ...(hidden.cause === undefined ? {} : { cause: causeOf(hidden.cause) }),
  });
};
