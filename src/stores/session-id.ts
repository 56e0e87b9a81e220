import { AgentError } from '../errors.ts';

const maxLength = 1000;

const problemOf = (id: unknown): string | undefined => {
  if (typeof id !== 'string') return `is ${id === null ? 'null' : typeof id}, not text`;
  if (id === '') return 'is empty';
  if (id.length > maxLength) return `has ${id.length} characters; ${maxLength} are allowed`;
  if (id.includes('\0')) return 'contains NUL';
  return id.isWellFormed() ? undefined : 'contains half a surrogate pair';
};

export const isSessionId = (id: unknown): id is string => problemOf(id) === undefined;

/**
 * Ids of sessions are data: well-formed text without NUL, of 1 to 1,000 characters (as `length` counts them). Throws
 * `invalid-option` for anything else; every method of a store asks it before it looks anything up.
 */
export const checkSessionId = (id: string): void => {
  const problem = problemOf(id);
  if (problem !== undefined) throw new AgentError('invalid-option', `the session's id ${problem}`);
};
