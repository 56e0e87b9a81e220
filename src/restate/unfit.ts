import { AgentError, isInstance } from '../errors.ts';

/** The agent is a version that cannot take the session up; another one may, such as the one before it. */
export const isUnfit = (error: unknown): boolean =>
  isInstance(error, AgentError) && error.code === 'incompatible-document';

const first = 500;
const longest = 60_000;

/** ms until what such a session is to hear is brought to it again. */
export const untilAgain = (tries: number): number => Math.min(longest, first * 2 ** Math.min(tries, 10));
