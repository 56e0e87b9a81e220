import type { ClientBase, Pool } from 'pg';
import { AgentError } from '../errors.ts';

/** Any number that others are unlikely to lock: "agch". */
const lock = 0x61676368;

/** What leads from each version to the next; the last one is today's. Ids may be longer than a B-tree takes: hence the hash index. */
const upgrades: readonly string[] = [
  `create table agentchart.sessions (
     key bigint generated always as identity primary key, id text collate "C" not null, agent text collate "C" not null,
     machine integer not null, status text collate "C" not null, pending integer not null, messages integer not null,
     revision integer not null, created bigint not null, updated bigint not null, stored integer not null,
     constraint sessions_id exclude using hash (id with =));
   create index sessions_updated on agentchart.sessions (updated desc, key desc);
   create table agentchart.commits (
     session bigint not null references agentchart.sessions on delete cascade, revision integer not null, at bigint not null,
     whole boolean not null, stored integer not null, transitions text not null, state text not null,
     primary key (session, revision));
   create table agentchart.messages (
     session bigint not null references agentchart.sessions on delete cascade, number integer not null, json text not null,
     primary key (session, number));
   create table agentchart.commands (
     id bigint generated always as identity primary key,
     session bigint not null references agentchart.sessions on delete cascade, at bigint not null, event text not null);
   create index commands_session on agentchart.commands (session)`,
  'alter table agentchart.commands add column refused text',
];

const versionOf = async (client: ClientBase | Pool): Promise<number> => {
  const found = await client.query<{ known: boolean }>(
    "select to_regclass('agentchart.schema_version') is not null as known",
  );
  if (found.rows[0]?.known !== true) return 0;
  const { rows } = await client.query<{ version: number }>('select version from agentchart.schema_version');
  const version = rows[0]?.version ?? 0;
  if (version <= upgrades.length) return version;
  throw new AgentError(
    'store-error',
    `PostgreSQL: schema "agentchart" is of a newer version of this package: ${version}, this one knows ${upgrades.length}`,
  );
};

const upgrade = async (client: ClientBase): Promise<void> => {
  await client.query('select pg_advisory_xact_lock($1)', [lock]);
  await client.query('create schema if not exists agentchart');
  await client.query('create table if not exists agentchart.schema_version (version integer not null)');
  // Another process may have been faster.
  for (const statements of upgrades.slice(await versionOf(client))) await client.query(statements);
  await client.query('delete from agentchart.schema_version');
  await client.query('insert into agentchart.schema_version values ($1)', [upgrades.length]);
};

/** Brings the database to today's schema, however many processes do so at once. Only an upgrade needs the right to create. */
export const prepareSchema = async (pool: Pool): Promise<void> => {
  if ((await versionOf(pool)) === upgrades.length) return;
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    // Whoever waited for the lock has to see what was made meanwhile.
    await client.query('begin isolation level read committed');
    await upgrade(client);
    await client.query('commit');
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    // A connection that is let go with an error is closed, which ends its transaction.
    client.release(broken);
  }
};
