import { join } from 'node:path';

/**
 * Where the processes that tests start keep what they have compiled: most of their work is to read the same sources. One that is killed has
 * to write it before, by `flushCompileCache`.
 */
export const compileCache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'compiled');
