import { checkTime, historyBounds, listBounds, refusalsAfter } from './bounds.ts';
import { commit } from './postgres-commit.ts';
import { PostgresConnection, type PostgresPlace } from './postgres-connection.ts';
import { lastCommand, listSessions, readHistory, readInbox, readRefusals, readSession } from './postgres-reads.ts';
import { PostgresWatch, channel } from './postgres-watch.ts';
import { checkSessionId } from './session-id.ts';
import type { SessionStore } from './store.ts';
import { unknownSession } from './unknown-session.ts';

export type { PostgresPlace } from './postgres-connection.ts';

const addCommand = `with added as (
    insert into agentchart.commands (session, at, event) select key, $2, $3 from agentchart.sessions where id = $1 returning id)
  select id::float8, pg_notify('${channel}', $1) from added`;
const deleteSession = 'delete from agentchart.sessions where id = $1 returning 1';
const deleteBefore = `with gone as (delete from agentchart.sessions where updated < $1::float8 returning 1)
  select count(*)::integer as count from gone`;

/**
 * Sessions in a PostgreSQL database (13 or newer, encoding UTF-8), for any number of processes on any number of machines. Needs the
 * package `pg`. The tables lie in a schema `agentchart` of their own, which the first call creates and later versions upgrade; that
 * needs the right to create, all else the rights on the tables.
 *
 * A confirmed commit is as safe as the server's `synchronous_commit` makes it; as PostgreSQL is delivered, it survives a power cut.
 * What goes wrong rejects with `store-error`; after a lost connection the next call opens another. A connection that breaks during a
 * commit leaves open whether it was taken: commit again, and a conflict says that it was. Watching takes one connection more.
 *
 * `close` ends the pool that was made from `connectionString`. A pool that you give stays open, and needs your `error` listener.
 */
export const postgresStore = (place: PostgresPlace): SessionStore => {
  const connection = new PostgresConnection(place);
  const watch = new PostgresWatch(connection);
  return {
    durable: true,
    read: async (sessionId, options) => {
      checkSessionId(sessionId);
      return await readSession(connection, sessionId, options?.at);
    },
    commit: async (given) => {
      checkSessionId(given.summary.sessionId);
      await commit(connection, given);
    },
    history: async (sessionId, options) => {
      checkSessionId(sessionId);
      return await readHistory(connection, sessionId, historyBounds(options));
    },
    list: async (options = {}) => await listSessions(connection, { ...options, ...listBounds(options) }),
    delete: async (sessionId) => {
      checkSessionId(sessionId);
      return (await connection.rows(deleteSession, [sessionId])).length > 0;
    },
    deleteBefore: async (time) => {
      checkTime(time);
      const [row] = await connection.rows<{ count: number }>(deleteBefore, [time]);
      return row?.count ?? 0;
    },
    post: async (sessionId, event) => {
      checkSessionId(sessionId);
      const values = [sessionId, Date.now(), JSON.stringify(event)];
      const [row] = await connection.rows<{ id: number }>(addCommand, values);
      if (row === undefined) throw unknownSession(sessionId);
      return row.id;
    },
    inbox: async (sessionId) => {
      checkSessionId(sessionId);
      return await readInbox(connection, sessionId);
    },
    refusals: async (sessionId, options) => {
      checkSessionId(sessionId);
      return await readRefusals(connection, sessionId, refusalsAfter(options));
    },
    lastCommand: async () => await lastCommand(connection),
    watch: (sessionId, notify) => {
      checkSessionId(sessionId);
      return watch.add(sessionId, notify);
    },
    close: async () => {
      watch.close();
      await connection.close();
    },
  };
};
