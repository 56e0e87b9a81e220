import type { OutsideEvent } from '../machines/agent-context.ts';
import { listBounds } from './bounds.ts';
import { unpackTransitions } from './packed-transitions.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { unpackRefusal } from './refusal.ts';
import type { Command, HistoryEntry, ListOptions, RefusedCommand, SessionSummary, StoredSession } from './store.ts';

// PostgreSQL's 64-bit integers come as text; these all fit into a number.
const summary = `id as "sessionId", agent, machine as "machineVersion", status, pending, messages, revision,
  created::float8 as "createdAt", updated::float8 as "updatedAt"`;
const find = `select key, ${summary} from agentchart.sessions where id = $1`;
const statesOf = `select state, stored from agentchart.commits
  where session = $1 and revision <= $2 and revision >= coalesce((
    select revision from agentchart.commits where session = $1 and revision <= $2 and whole order by revision desc limit 1
  ), 1)
  order by revision`;
const messagesOf = 'select json from agentchart.messages where session = $1 and number < $2 order by number';
const historyOf = `select revision, at::float8, transitions from agentchart.commits
  where session = (select key from agentchart.sessions where id = $1) and revision > $2::bigint and transitions <> ''
  order by revision limit $3`;
const inboxOf = `select id::float8, event, at::float8 from agentchart.commands
  where session = (select key from agentchart.sessions where id = $1) and refused is null order by commands.id`;
const refusalsOf = `select id::float8, event, at::float8, refused from agentchart.commands
  where session = (select key from agentchart.sessions where id = $1) and refused is not null and id > $2::bigint
  order by commands.id`;

/**
 * No transaction: what belongs to a revision never changes, and a key is never used again. A session that is deleted meanwhile
 * is seen by what is missing.
 */
export const readSession = async (
  connection: PostgresConnection,
  sessionId: string,
  at?: number,
): Promise<StoredSession | undefined> => {
  const [session] = await connection.rows<SessionSummary & { key: string }>(find, [sessionId]);
  if (session === undefined) return undefined;
  const { key, ...found } = session;
  const revision = at ?? found.revision;
  if (!Number.isInteger(revision) || revision < 1 || revision > found.revision) return undefined;
  const states = await connection.rows<{ state: string; stored: number }>(statesOf, [key, revision]);
  const stored = states.at(-1)?.stored;
  if (stored === undefined) return undefined;
  const messages = await connection.rows<{ json: string }>(messagesOf, [key, stored]);
  if (messages.length !== stored) return undefined;
  return {
    summary: found,
    revision,
    states: states.map(({ state }) => state),
    messages: messages.map(({ json }) => json),
  };
};

export const readHistory = async (
  connection: PostgresConnection,
  sessionId: string,
  { after, limit }: { after: number; limit: number },
): Promise<HistoryEntry[]> => {
  const values = [sessionId, after, limit];
  const rows = await connection.rows<{ revision: number; at: number; transitions: string }>(historyOf, values);
  return rows.flatMap(({ revision, at, transitions }) => unpackTransitions(transitions, revision, at));
};

const listed = `select ${summary} from agentchart.sessions
  where ($1::text is null or status = $1) and ($2::text is null or agent = $2) and ($3::float8 is null or updated < $3)
  order by updated desc, key desc limit $4 offset $5`;

export const listSessions = async (connection: PostgresConnection, options: ListOptions): Promise<SessionSummary[]> => {
  const { limit, offset } = listBounds(options);
  const { status = null, agent = null, changedBefore = null } = options;
  return await connection.rows<SessionSummary>(listed, [status, agent, changedBefore, limit, offset]);
};

export const readInbox = async (connection: PostgresConnection, sessionId: string): Promise<Command[]> => {
  const rows = await connection.rows<{ id: number; event: string; at: number }>(inboxOf, [sessionId]);
  return rows.map(({ id, event, at }) => ({ id, event: JSON.parse(event) as OutsideEvent, at }));
};

export const readRefusals = async (
  connection: PostgresConnection,
  sessionId: string,
  after: number,
): Promise<RefusedCommand[]> => {
  const rows = await connection.rows<{ id: number; event: string; at: number; refused: string }>(refusalsOf, [
    sessionId,
    after,
  ]);
  return rows.map((row) => unpackRefusal(row));
};

/** A role with rights on the tables alone may not look at what counts their rows. */
const lastId = `select case when has_sequence_privilege('agentchart.commands_id_seq', 'select')
  then coalesce(pg_sequence_last_value('agentchart.commands_id_seq'::regclass), 0)::float8 end as id`;

/** The id that was given last to a command; 0 before the first; undefined where the role may not know. */
export const lastCommand = async (connection: PostgresConnection): Promise<number | undefined> => {
  const [row] = await connection.rows<{ id: number | null }>(lastId, []);
  return row?.id ?? undefined;
};
