import type { SqliteConnection, SqliteDatabase } from './sqlite-connection.ts';
import { lastCommand } from './sqlite-reads.ts';
import { Watchers } from './watchers.ts';

const interval = 250;

const newCommands = 'select distinct s.id from commands c join sessions s on s.key = c.session where c.id > ?';

/** Tells of commands of other processes: one cheap question every 250 ms, whatever the number of sessions. Its timer holds no process. */
export class SqliteWatch {
  readonly #connection: SqliteConnection;
  readonly #watchers = new Watchers();
  #timer: NodeJS.Timeout | undefined;
  #version: number | undefined;
  #seen = 0;
  #isClosed = false;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  add(sessionId: string, notify: () => void): () => void {
    // Sessions may live on: nothing is opened for them again.
    if (this.#isClosed) return () => undefined;
    const end = this.#watchers.add(sessionId, notify);
    if (this.#timer === undefined) this.#start();
    return () => {
      end();
      if (this.#watchers.size === 0) this.#stop();
    };
  }

  /** A command that came through this store. */
  tell(sessionId: string): void {
    this.#watchers.tell(sessionId);
  }

  close(): void {
    this.#isClosed = true;
    this.#watchers.clear();
    this.#stop();
  }

  #start(): void {
    this.#timer = setInterval(() => this.#try((database) => this.#look(database)), interval).unref();
    this.#version = undefined;
    this.#try((database) => {
      this.#version = this.#versionOf(database);
      this.#seen = lastCommand(database);
    });
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** What fails here fails again, and is told, where somebody waits for an answer. */
  #try(work: (database: SqliteDatabase) => void): void {
    try {
      this.#connection.now(work);
    } catch {
      // The next look may do better.
    }
  }

  #versionOf(database: SqliteDatabase): number | undefined {
    return database.row<{ data_version: number }>('pragma data_version')?.data_version;
  }

  #look(database: SqliteDatabase): void {
    const version = this.#versionOf(database);
    if (version === this.#version) return;
    database.transaction('deferred', () => {
      const rows = database.rows<{ id: string }>(newCommands, this.#seen);
      this.#seen = lastCommand(database);
      for (const { id } of rows) this.#watchers.tell(id);
    });
    this.#version = version;
  }
}
