import { flushCompileCache } from 'node:module';
import { scenarios } from '../scenarios.ts';

export const scenario = scenarios.unsafe;

// Here, where all is loaded: a process that is killed writes nothing at its end.
flushCompileCache();
