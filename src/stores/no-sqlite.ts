/** In place of the SQLite store where a bundler packs for browsers: there is none, and its code stays out. */
export const sqliteStore = undefined;
