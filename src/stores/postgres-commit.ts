import { packTransitions } from './packed-transitions.ts';
import { packRefusal } from './refusal.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { SessionConflictError } from './session-conflict.ts';
import type { Commit } from './store.ts';

// One statement is one transaction and one way to the server. Where the revision does not fit, `session` has no row, and so
// nothing else is written.
const begin = `insert into agentchart.sessions
    (id, agent, machine, status, pending, messages, revision, created, updated, stored)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, cardinality($10::text[]))
  on conflict do nothing
  returning key, stored`;
const change = `update agentchart.sessions
  set agent = $2, machine = $3, status = $4, pending = $5, messages = $6, revision = $7, updated = $9,
    stored = stored + cardinality($10::text[])
  where id = $1 and revision = $7::integer - 1 and created = $8
  returning key, stored`;
const statement = (session: string): string => `with session as (${session}),
  added as (
    insert into agentchart.commits (session, revision, at, whole, stored, transitions, state)
    select key, $7, $9, $11, stored, $12, $13 from session),
  said as (
    insert into agentchart.messages (session, number, json)
    select key, stored - cardinality($10::text[]) + number - 1, json
    from session, unnest($10::text[]) with ordinality as given (json, number)),
  taken as (
    delete from agentchart.commands as command using session
    where command.session = session.key and command.id = any($14::bigint[]) and refused is null),
  refused as (
    update agentchart.commands as command set refused = given.refused
    from session, unnest($15::bigint[], $16::text[]) as given (id, refused)
    where command.session = session.key and command.id = given.id and command.refused is null)
  select 1 from session`;

const beginning = statement(begin);
const changing = statement(change);

/** Rejects with `SessionConflictError` for a revision that is not the next one. */
export const commit = async (
  connection: PostgresConnection,
  { summary, state, isWhole, messages, transitions, taken, refused }: Commit,
): Promise<void> => {
  const { sessionId, agent, machineVersion, status, pending, revision, createdAt, updatedAt } = summary;
  const about = [sessionId, agent, machineVersion, status, pending, summary.messages, revision, createdAt, updatedAt];
  const refusals = refused.map((refusal) => packRefusal(refusal, updatedAt));
  const values = [
    ...about,
    messages,
    isWhole,
    packTransitions(transitions),
    state,
    taken,
    refused.map(({ id }) => id),
    refusals,
  ];
  const rows = await connection.rows(revision === 1 ? beginning : changing, values);
  if (rows.length === 0) throw new SessionConflictError(sessionId);
};
