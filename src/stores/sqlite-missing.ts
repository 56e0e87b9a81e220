import { AgentError } from '../errors.ts';

/** What every use of a file rejects with where the platform has no SQLite. */
export const noSqlite = (): AgentError =>
  new AgentError('store-error', 'sqliteStore needs node:sqlite, which Node has from version 22.13 on');
