import { type Keep, checkKeep } from './keep.ts';
import type { Strategy } from './strategy.ts';

/** Leaves out what is older than the last messages or rounds. */
export const keepLast = (keep: Keep): Strategy => ({ name: 'keep-last', keep: checkKeep(keep, 'keepLast') });
