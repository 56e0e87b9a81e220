import { AgentError } from '../errors.ts';
import type { ListOptions, SessionSummary } from './store.ts';

const whole = (name: string, value: number | undefined, otherwise: number): number => {
  if (value === undefined) return otherwise;
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new AgentError('invalid-option', `${name} is ${String(value)}; it has to be a whole number, 0 or more`);
};

/** Throws `invalid-option` for what is no point in time: nothing may be deleted by mistake. */
export const checkTime = (time: number): void => {
  if (typeof time !== 'number' || Number.isNaN(time)) {
    throw new AgentError('invalid-option', `the time is ${String(time)}; it has to be in ms since 1970`);
  }
};

/** More than any store holds, and a number that every database takes. */
const all = 2 ** 48;

/** How much of a list is wanted. Throws `invalid-option`. */
export const listBounds = ({ limit, offset, changedBefore }: ListOptions): { limit: number; offset: number } => {
  if (changedBefore !== undefined) checkTime(changedBefore);
  return { limit: whole('limit', limit, 100), offset: whole('offset', offset, 0) };
};

/** Which part of a history is wanted. Throws `invalid-option`. */
export const historyBounds = (options: { after?: number; limit?: number } = {}): { after: number; limit: number } => ({
  after: whole('after', options.after, 0),
  limit: whole('limit', options.limit, all),
});

/** After which command refusals are wanted. Throws `invalid-option`. */
export const refusalsAfter = ({ after }: { after?: number } = {}): number => whole('after', after, 0);

/** Throws `invalid-option` for numbers that a database takes for its integers, and of which this process could read none again: no list of all. */
export const checkNumbers = (summary: SessionSummary): void => {
  for (const [name, value] of Object.entries(summary) as [string, unknown][]) {
    if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
      throw new AgentError('invalid-option', `the ${name} of a commit is ${value}, which cannot be stored`);
  }
};
