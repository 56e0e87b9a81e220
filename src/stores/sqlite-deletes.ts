import type { SqliteDatabase } from './sqlite-connection.ts';
import { type SummaryRow, changed, selectSummaries } from './sqlite-summaries.ts';

const rowsOf = (table: string): string => `delete from ${table} where id >= ? << 32 and id < (? + 1) << 32`;

const deleteRows = (database: SqliteDatabase, key: number): void => {
  database.run(rowsOf('commits'), key, key);
  database.run(rowsOf('messages_apart'), key, key);
  database.run('delete from commands where session = ?', key);
  database.run('delete from sessions where key = ?', key);
};

/** Within a transaction. */
export const deleteSession = (database: SqliteDatabase, sessionId: string): boolean => {
  const row = database.row<{ key: number }>('select key from sessions where id = ?', sessionId);
  if (row !== undefined) deleteRows(database, row.key);
  return row !== undefined;
};

/** Within a transaction. */
export const deleteSessionsBefore = (database: SqliteDatabase, time: number): number => {
  const rows = database.rows<SummaryRow>(`${selectSummaries} where ${changed} < ?`, time);
  for (const { key } of rows) deleteRows(database, key);
  return rows.length;
};
