import { AgentError } from '../errors.ts';

/** What every use of a file rejects with where the platform has no SQLite. */
export const noSqlite = (): AgentError =>
  new AgentError('store-error', 'sqliteStore needs node:sqlite, which Node has from version 22.13 on');

/** In place of the SQLite store where a bundler packs for browsers: there is none, and its code stays out. */
export const sqliteStore = (): never => {
  throw noSqlite();
};
