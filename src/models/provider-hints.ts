/** What servers say of an error in one way or another, whatever library talks to them. */

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

/** The request is longer than the model's context window. */
export const isOverflow = (message: string, code: string | undefined, status: number | undefined): boolean => {
  if (code === 'context_length_exceeded' || status === 413) return true;
  return (status === undefined || status === 400 || status === 422) && overflowText.test(message);
};

/** Nobody pays for this request: waiting does not help. */
export const isQuotaCode = (code: unknown): boolean =>
  code === 'insufficient_quota' || code === 'billing_hard_limit_reached' || code === 'billing_not_active';

/** An HTTP status after which the same request may work later (R40). */
export const mayPass = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500;

/**
 * The wait in ms that a server asks for, from `retry-after-ms` or `Retry-After` (seconds or an HTTP date). What is negative,
 * past or unreadable counts as not given.
 */
export const retryAfter = (
  headers: { get(name: string): string | null | undefined },
  now: number,
): number | undefined => {
  const ms = headers.get('retry-after-ms')?.trim() ?? '';
  const after = headers.get('retry-after')?.trim() ?? '';
  const number = /^\d+(\.\d+)?$/;
  if (number.test(ms)) return Number(ms);
  if (number.test(after)) return Number(after) * 1000;
  const wait = /^[a-z]{3,9},? /i.test(after) ? Date.parse(after) - now : Number.NaN;
  return wait >= 0 ? wait : undefined;
};
