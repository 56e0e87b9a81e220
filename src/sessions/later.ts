import { AgentError, errorData } from '../errors.ts';

/**
 * A part of this package that only some agents need: it is loaded when it is first asked for, and is there at once from then on. Rejects
 * with `load-failed`, for instance in a page that is offline; whoever asks next tries again.
 */
export const later = <T extends object>(what: string, load: () => Promise<T>): (() => T | Promise<T>) => {
  let part: T | Promise<T> | undefined;
  const loaded = async (): Promise<T> => {
    try {
      part = await load();
      return part;
    } catch (cause) {
      part = undefined;
      throw new AgentError('load-failed', `${what} could not be loaded: ${errorData(cause).message}`, { cause });
    }
  };
  return () => {
    part ??= loaded();
    return part;
  };
};

/** What stands around turns and before model calls, and what tells late readers of a turn. */
export const pipeline = later('the pipeline of agentchart', () => import('./pipeline.ts'));

/** A session to look at. */
export const readOnlySession = later('the read-only session of agentchart', () => import('./read-only-session.ts'));
