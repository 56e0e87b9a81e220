import { AgentError } from '../errors.ts';
import { checkNumbers, checkTime, historyBounds, listBounds, refusalsAfter } from './bounds.ts';
import { checkSessionId } from './session-id.ts';
import { SqliteCommits } from './sqlite-commits.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { deleteSession, deleteSessionsBefore } from './sqlite-deletes.ts';
import { lastCommand, listSessions, readHistory, readInbox, readRefusals, readSession } from './sqlite-reads.ts';
import { SqliteWatch } from './sqlite-watch.ts';
import type { SessionStore } from './store.ts';
import { unknownSession } from './unknown-session.ts';

const addCommand = 'insert into commands (session, at, event) select key, ?, ? from sessions where id = ?';

/**
 * Sessions in one SQLite file, by Node's own `node:sqlite` (Node 22.13 or newer; without it this throws `store-error`). Several
 * processes of one machine may use the file at once; a network drive will not do. `:memory:` keeps them in this process.
 *
 * A commit that was confirmed survives the end of the process, also by `kill -9`. When the machine itself goes down, the last
 * commits may be missing, but each is there whole or not at all (`synchronous = normal`). The folder has to exist; the file is
 * created, and upgraded, by the first call. What was deleted is overwritten in the file.
 *
 * What goes wrong rejects with `store-error`, which names the file and the reason; what was stored stays. A file that another
 * process writes is waited for, 10 seconds at most; one that was moved or deleted meanwhile takes nothing more. Close it after use.
 */
export const sqliteStore = (path: string): SessionStore => {
  if (typeof path !== 'string' || path === '') {
    throw new AgentError('invalid-option', 'sqliteStore takes the path of a file, or ":memory:"');
  }
  const connection = new SqliteConnection(path);
  const commits = new SqliteCommits(connection);
  const watch = new SqliteWatch(connection);
  return {
    durable: true,
    read: async (sessionId, options) => {
      checkSessionId(sessionId);
      return await connection.use((database) =>
        database.transaction('deferred', () => readSession(database, sessionId, options?.at)),
      );
    },
    commit: async (commit) => {
      checkSessionId(commit.summary.sessionId);
      checkNumbers(commit.summary);
      if (!commits.now(commit)) await commits.add(commit);
    },
    history: async (sessionId, options) => {
      checkSessionId(sessionId);
      const bounds = historyBounds(options);
      return await connection.use((database) => readHistory(database, sessionId, bounds));
    },
    list: async (options = {}) => {
      const bounds = listBounds(options);
      return await connection.use((database) => listSessions(database, { ...options, ...bounds }));
    },
    delete: async (sessionId) => {
      checkSessionId(sessionId);
      return await connection.write((database) =>
        database.transaction('immediate', () => deleteSession(database, sessionId)),
      );
    },
    deleteBefore: async (time) => {
      checkTime(time);
      return await connection.write((database) =>
        database.transaction('immediate', () => deleteSessionsBefore(database, time)),
      );
    },
    post: async (sessionId, event) => {
      checkSessionId(sessionId);
      const text = JSON.stringify(event);
      const { changes, lastInsertRowid } = await connection.write((database) =>
        database.run(addCommand, Date.now(), text, sessionId),
      );
      if (changes === 0) throw unknownSession(sessionId);
      watch.tell(sessionId);
      return lastInsertRowid;
    },
    inbox: async (sessionId) => {
      checkSessionId(sessionId);
      return await connection.use((database) => readInbox(database, sessionId));
    },
    refusals: async (sessionId, options) => {
      checkSessionId(sessionId);
      const after = refusalsAfter(options);
      return await connection.use((database) => readRefusals(database, sessionId, after));
    },
    lastCommand: async () => await connection.use(lastCommand),
    watch: (sessionId, notify) => {
      checkSessionId(sessionId);
      return watch.add(sessionId, notify);
    },
    close: async () => {
      await commits.settled();
      watch.close();
      connection.close();
    },
  };
};
