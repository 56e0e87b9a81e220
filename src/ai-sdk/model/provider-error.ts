import { ModelError, type ModelErrorOptions } from '../../models/model-error.ts';
import { isOverflow, isQuotaCode, mayPass as passes, retryAfter } from '../../models/provider-hints.ts';

type Fields = Readonly<Record<string, unknown>>;

const hasFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const fieldsOf = (value: unknown): Fields | undefined => (hasFields(value) ? value : undefined);

const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' ? String(value) : undefined;
};

const statusOf = (value: unknown): number | undefined => {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 100 && status < 600 ? status : undefined;
};

const errorStatusOf = (value: unknown): number | undefined => {
  const status = statusOf(value);
  return status !== undefined && status >= 400 ? status : undefined;
};

/** The error object in a provider's answer: under `error`, under `response.error`, or the answer itself. */
const detailsIn = (data: unknown): Fields => {
  const outer = fieldsOf(data);
  return fieldsOf(fieldsOf(outer?.response)?.error) ?? fieldsOf(outer?.error) ?? outer ?? {};
};

const parsed = (body: unknown): unknown => {
  try {
    return typeof body === 'string' ? JSON.parse(body) : undefined;
  } catch {
    return undefined;
  }
};

const headersOf = (value: unknown): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(fieldsOf(value) ?? {}).flatMap(([name, text]) =>
      typeof text === 'string' ? [[name.toLowerCase(), text] as const] : [],
    ),
  );

/** What we know of a failure, whatever its class: errors are read by their fields, so that no package has to be loaded. */
interface Facts {
  message: string;
  status: number | undefined;
  code: string | undefined;
  headers: ReadonlyMap<string, string>;
  /** What the error itself says, or what its kind lets expect. */
  mayPass: boolean;
}

const failure = ({ message, status, code, headers, mayPass }: Facts, cause: unknown): ModelError => {
  const overflow = isOverflow(message, code, status);
  const forbidden = headers.get('x-should-retry') === 'false' || isQuotaCode(code);
  const wait = retryAfter(headers, Date.now());
  const options: ModelErrorOptions = {
    ...(status === undefined ? {} : { status }),
    transient: mayPass && !overflow && !forbidden,
    overflow,
    ...(wait === undefined ? {} : { retryAfter: wait }),
    ...(code === undefined ? {} : { providerCode: code }),
    cause,
  };
  return new ModelError('model-request-failed', message, options);
};

const broken = (message: string, cause: unknown): ModelError =>
  new ModelError('model-stream-broken', message, { transient: true, cause });

const messageOf = (error: unknown): string =>
  textOf(fieldsOf(error)?.message) ?? textOf(error) ?? JSON.stringify(error) ?? 'the provider failed without a word';

const isOfAiSdk = (error: Fields): boolean => Symbol.for('vercel.ai.error') in error;

const networkText = /fetch failed|network|terminated|socket|load failed|timed? ?out|connection|aborted/i;
const networkNames = ['TimeoutError', 'AbortError', 'ResponseAborted'];

/** A lost connection or a time limit, as `fetch` and the runtimes tell it. */
const isNetwork = (error: Fields): boolean =>
  networkNames.includes(String(error.name)) ||
  networkText.test(String(error.message)) ||
  [error.code, fieldsOf(error.cause)?.code].some(
    (code) => typeof code === 'string' && /^(E[A-Z]+|UND_ERR_.*)$/.test(code),
  );

/** Replies that could not be read: another one may be readable. */
const unreadable = ['AI_JSONParseError', 'AI_InvalidResponseDataError', 'AI_EmptyResponseBodyError'];

/** What a provider of the AI SDK threw when it was asked. */
export const requestFailure = (thrown: unknown): ModelError => {
  if (thrown instanceof ModelError) return thrown;
  const error = fieldsOf(thrown) ?? {};
  const message = messageOf(thrown);
  const status = statusOf(error.statusCode) ?? statusOf(error.status);
  // An answer that came, and cannot be read.
  if (unreadable.includes(String(error.name)) || (status !== undefined && status < 400)) return broken(message, thrown);
  const details = detailsIn(error.data ?? parsed(error.responseBody));
  const expected = status === undefined ? !isOfAiSdk(error) && isNetwork(error) : passes(status);
  return failure(
    {
      message,
      status,
      code: textOf(details.code) ?? textOf(details.type),
      headers: headersOf(error.responseHeaders),
      mayPass: typeof error.isRetryable === 'boolean' ? error.isRetryable : expected,
    },
    thrown,
  );
};

/** The error that a stream holds, after its status was 200: an error object of the provider, an `Error`, or text. */
export const streamedFailure = (given: unknown): ModelError => {
  if (given instanceof ModelError) return given;
  const outer = fieldsOf(given) ?? {};
  if (given instanceof Error && 'statusCode' in given) return requestFailure(given);
  const details = detailsIn(given);
  const code = textOf(details.code) ?? textOf(details.type);
  const status =
    errorStatusOf(details.statusCode ?? outer.statusCode) ??
    errorStatusOf(details.status ?? outer.status) ??
    errorStatusOf(details.code);
  const retryable = details.isRetryable ?? outer.isRetryable;
  const expected = status === undefined ? details.type !== 'invalid_request_error' : passes(status);
  const message = textOf(details.message) ?? messageOf(given);
  const mayPass = typeof retryable === 'boolean' ? retryable : expected;
  return failure({ message, status, code, headers: new Map(), mayPass }, given);
};

/** A stream that stopped to flow: the connection was lost, or the provider could not go on reading. */
export const readFailure = (thrown: unknown): ModelError =>
  thrown instanceof ModelError ? thrown : broken(messageOf(thrown), thrown);
