import { OpenAIError, APIConnectionError } from 'openai';
import type { JsonObject, JsonValue } from '../../messages/json.ts';
import { ModelError } from '../model-error.ts';
import { isJsonObject } from './json-value.ts';

const overflowText = new RegExp(
  [
    'maximum context length',
    'context[ _](length|window|size)',
    'prompt is too long',
    'input is too long',
    'maximum prompt length',
    'model token limit',
    'input token count.*exceeds',
    'reduce the length of the messages',
    'too many (input )?tokens',
  ].join('|'),
  'i',
);

const isOverflow = (message: string, code: string | undefined, status: number | undefined): boolean => {
  if (code === 'context_length_exceeded' || status === 413) return true;
  return (status === undefined || status === 400 || status === 422) && overflowText.test(message);
};

const isQuotaCode = (value: JsonValue | undefined): boolean =>
  value === 'insufficient_quota' || value === 'billing_hard_limit_reached' || value === 'billing_not_active';

const passes = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500;

const text = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' ? String(value) : undefined;
};

const messageIn = (error: unknown): string | undefined => {
  if (!isJsonObject(error)) return text(error);
  return text(error.message) ?? text(error.detail) ?? JSON.stringify(error.message ?? error.detail ?? error);
};

/**
 * The wait in ms that a server asks for, from `retry-after-ms` or `Retry-After` (seconds or an HTTP date). What is negative,
 * past or unreadable counts as not given.
 */
export const retryAfter = (headers: Headers, now: number): number | undefined => {
  const ms = headers.get('retry-after-ms')?.trim() ?? '';
  const after = headers.get('retry-after')?.trim() ?? '';
  const number = /^\d+(\.\d+)?$/;
  if (number.test(ms)) return Number(ms);
  if (number.test(after)) return Number(after) * 1000;
  const wait = /^[a-z]{3,9},? /i.test(after) ? Date.parse(after) - now : Number.NaN;
  return wait >= 0 ? wait : undefined;
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

const rootMessage = (error: Error): string => {
  let root = error;
  for (let depth = 0; depth < 5 && root.cause instanceof Error; depth++) root = root.cause;
  return root === error || root.message === '' ? error.message : `${error.message} ${root.message}`;
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
