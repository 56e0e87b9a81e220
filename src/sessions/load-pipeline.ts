import { AgentError, errorData } from '../errors.ts';
import type * as parts from './pipeline.ts';

type Pipeline = typeof parts;

let part: Pipeline | Promise<Pipeline> | undefined;

const loaded = async (): Promise<Pipeline> => {
  try {
    part = await import('./pipeline.ts');
    return part;
  } catch (cause) {
    part = undefined;
    const { message } = errorData(cause);
    throw new AgentError('load-failed', `the pipeline of agentchart could not be loaded: ${message}`, { cause });
  }
};

/**
 * What stands before model calls, and what tells late readers of a turn: only some agents need it, so it is loaded when it is first asked for,
 * and is there at once from then on. Rejects with `load-failed`, for instance in a page that is offline; whoever asks next tries again.
 */
export const pipeline = (): Pipeline | Promise<Pipeline> => {
  part ??= loaded();
  return part;
};

/** Begins to load it for an agent that will need it: its process may come to a place where it cannot be read. */
export const beginToLoad = (): void => {
  // The turn that needs it tries again, and says why.
  Promise.resolve(pipeline()).catch(() => undefined);
};
