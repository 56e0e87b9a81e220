import { OpenAIError, APIConnectionError } from 'openai';
import type { JsonObject, JsonValue } from '../../messages/json.ts';
import { ModelError } from '../model-error.ts';
import { isOverflow, isQuotaCode, mayPass as passes, retryAfter } from '../provider-hints.ts';
import { isJsonObject } from './json-value.ts';

const text = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' ? String(value) : undefined;
};

const messageIn = (error: unknown): string | undefined => {
  if (!isJsonObject(error)) return text(error);
  return text(error.message) ?? text(error.detail) ?? JSON.stringify(error.message ?? error.detail ?? error);
};

interface Response {
  status: number;
  body: unknown;
  headers: Headers;
  fallback: string;
}

const refused = ({ status, body, headers, fallback }: Response, cause: unknown): ModelError => {
  const error = isJsonObject(body) ? body : {};
  const message = messageIn(body) ?? fallback;
  const providerCode = text(error.code) ?? text(error.type);
  const wait = retryAfter(headers, Date.now());
  const overflow = isOverflow(message, providerCode, status);
  const forbidden = headers.get('x-should-retry') === 'false' || isQuotaCode(error.code) || isQuotaCode(error.type);
  return new ModelError('model-request-failed', message, {
    status,
    transient: passes(status) && !forbidden && !overflow,
    overflow,
    ...(wait === undefined ? {} : { retryAfter: wait }),
    ...(providerCode === undefined ? {} : { providerCode }),
    cause,
  });
};

/** Some servers put their error object into a list. */
const unwrapped = (body: unknown): unknown => {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return isJsonObject(first) && isJsonObject(first.error) ? first.error : first;
};

/** Of a host that is not known, or has nothing at that port. */
const isNobodyThere = (error: Error): boolean =>
  'code' in error && ['ECONNREFUSED', 'ENOTFOUND'].includes(String(error.code));

const rootMessage = (error: Error): string => {
  let root = error;
  for (let depth = 0; depth < 5 && root.cause instanceof Error; depth++) root = root.cause;
  const message = root === error || root.message === '' ? error.message : `${error.message} ${root.message}`;
  return isNobodyThere(root) ? `${message}; is the base URL right, and its server up?` : message;
};

/** What the `openai` package threw, as a `ModelError`. */
export const requestError = (thrown: unknown): ModelError => {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const status = 'status' in error ? error.status : undefined;
  if (typeof status === 'number') {
    const headers = 'headers' in error && error.headers instanceof Headers ? error.headers : new Headers();
    const body = unwrapped('error' in error ? error.error : undefined);
    const fallback = error.message.endsWith('(no body)') ? error.message : error.message.replace(`${status} `, '');
    return refused({ status, body, headers, fallback }, thrown);
  }
  // What the package refuses by itself, such as a key that cannot be had, will not pass; a lost connection will.
  const transient = !(error instanceof OpenAIError) || error instanceof APIConnectionError;
  return new ModelError('model-request-failed', rootMessage(error), { transient, cause: thrown });
};

/** A reply that broke off or cannot be read: asking again may help. */
export const brokenReply = (message: string, cause?: unknown): ModelError =>
  new ModelError('model-stream-broken', message, { transient: true, ...(cause === undefined ? {} : { cause }) });

const statusIn = (code: JsonValue | undefined): number | undefined => {
  const status = Number(typeof code === 'string' ? code : typeof code === 'number' ? code : Number.NaN);
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
};

/** The error that a reply with status 200 holds, whole or as a piece of a stream. */
export const errorInReply = (data: JsonObject): ModelError | undefined => {
  const given = data.object === 'error' ? data : data.error;
  if (given === undefined || given === null || given === '' || given === false) return undefined;
  const error = isJsonObject(given) ? given : {};
  const message = messageIn(given) ?? JSON.stringify(given);
  const status = statusIn(error.code) ?? statusIn(error.status);
  const providerCode = text(error.code) ?? text(error.type);
  const overflow = isOverflow(message, providerCode, status);
  const isQuota =
    isQuotaCode(error.code) || isQuotaCode(error.type) || /quota|insufficient (balance|credits|funds)/i.test(message);
  const isRefused = isQuota || overflow || error.type === 'invalid_request_error';
  return new ModelError('model-request-failed', message, {
    ...(status === undefined ? {} : { status }),
    transient: !isRefused && (status === undefined || passes(status)),
    overflow,
    ...(providerCode === undefined ? {} : { providerCode }),
  });
};
