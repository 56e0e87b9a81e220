import type { DatabaseSync } from 'node:sqlite';
import { AgentError } from '../errors.ts';

/** Marks the file as ours ("agch"), so that no other program's database is taken for one. */
const applicationId = 0x61676368;

/** Of a new file, in bytes: a commit is small, and whatever it changes is written in whole pages. */
const pageSize = 1024;

/**
 * What leads from each version to the next; the last one is today's. Commits are keyed by `session << 32 | revision`: a session's rows
 * lie side by side, in order, without an index. A commit is one row with its messages, so that it changes as few pages as can be:
 * whatever page it changes is written whole.
 */
const upgrades: readonly string[] = [
  `create table sessions (
     key integer primary key, id text not null unique, agent text not null, machine integer not null, status text not null,
     pending integer not null, messages integer not null, revision integer not null, created integer not null,
     updated integer not null, stored integer not null);
   create table commits (
     id integer primary key, at integer not null, whole integer not null, stored integer not null, transitions text not null,
     state text not null);
   create table messages (id integer primary key, json text not null);
   create table commands (
     id integer primary key autoincrement, session integer not null, at integer not null, event text not null);
   create index commands_by_session on commands (session);
   pragma application_id = ${applicationId}`,
  'alter table commands add column refused text',
  // The row of a busy session may be older than its last commit: whoever does not know that must not read it.
  '',
  // Messages of before stay where they are, and so do those of commits with many of them come to lie. The name is another one, so that no
  // process of an older version goes on without the new ones.
  'alter table commits add column messages text; alter table messages rename to messages_apart',
];

export const pragma = (database: DatabaseSync, name: string): unknown =>
  Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0];

const isEmpty = (database: DatabaseSync): boolean =>
  database.prepare('select 1 from sqlite_schema limit 1').get() === undefined;

/** The schema's version; 0 for a new file. Throws `store-error` for what only others can read. */
const versionOf = (database: DatabaseSync): number => {
  const version = Number(pragma(database, 'user_version'));
  const isOurs = pragma(database, 'application_id') === applicationId;
  if (!isOurs && (version !== 0 || !isEmpty(database))) {
    throw new AgentError('store-error', 'it is the database of another program');
  }
  if (version > upgrades.length) {
    throw new AgentError(
      'store-error',
      `it was written by a newer version of this package: schema ${version}, this one knows ${upgrades.length}`,
    );
  }
  return version;
};

/** Brings the file to today's schema, however many processes do so at once. A file that has it is not written. */
export const prepareSchema = (database: DatabaseSync): void => {
  if (versionOf(database) === upgrades.length) return;
  // A file that is there keeps its own.
  database.exec(`pragma page_size = ${pageSize}`);
  database.exec('pragma journal_mode = wal');
  database.exec('begin immediate');
  try {
    // Another process may have been faster.
    for (const upgrade of upgrades.slice(versionOf(database))) database.exec(upgrade);
    database.exec(`pragma user_version = ${upgrades.length}`);
    database.exec('commit');
  } catch (error) {
    if (database.isTransaction !== false) database.exec('rollback');
    throw error;
  }
};
