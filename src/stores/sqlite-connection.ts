import type * as Sqlite from 'node:sqlite';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { AgentError } from '../errors.ts';
import { FilePlace } from './file-place.ts';
import { noSqlite } from './sqlite-missing.ts';
import { openFailure } from './sqlite-open-failure.ts';
import { pragma, prepareSchema } from './sqlite-schema.ts';
import { storeError } from './store-error.ts';

/** How long the thread itself waits for another process's write, in ms; after that the promise does. */
const blockingWait = 50;
const longestWait = 10_000;

/** The log is written back when it has so many bytes of pages. */
const longestLog = 720 * 1024;
/** What a large commit made of the log is given back, in bytes; what it needs at most otherwise is kept, and written over. */
const keptLog = 1_000_000;
/** Pages that are kept in memory, in kB: a long session that is read twice is read from the disk once. */
const cache = 8_000;

const settings = `
  pragma busy_timeout = ${blockingWait};
  pragma synchronous = normal;
  pragma journal_size_limit = ${keptLog};
  pragma cache_size = ${-cache};
  pragma secure_delete = on`;

/** Asked of the process, not imported: a bundler for browsers must not see it. Throws `store-error` where it is missing. */
export const builtInSqlite = (): typeof Sqlite => {
  const host = (globalThis as { process?: Partial<NodeJS.Process> }).process;
  const sqlite = host?.getBuiltinModule?.('node:sqlite');
  if (sqlite === undefined) throw noSqlite();
  return sqlite;
};

/** True where another process is writing. */
export const isBusy = (error: unknown): boolean => {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' && ((code & 0xff) === 5 || (code & 0xff) === 6);
};

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** An open database whose statements are compiled once. */
export class SqliteDatabase {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** All rows; `Row` is what the statement selects. */
  rows<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.prepared(sql).all(...values) as unknown[] as Row[];
  }

  row<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.prepared(sql).get(...values) as unknown as Row | undefined;
  }

  run(sql: string, ...values: SQLInputValue[]): { changes: number; lastInsertRowid: number } {
    const { changes, lastInsertRowid } = this.prepared(sql).run(...values);
    return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
  }

  /** All or nothing. `immediate` for what writes; `deferred` for reads that have to fit each other. */
  transaction<T>(kind: 'immediate' | 'deferred', work: () => T): T {
    this.prepared(`begin ${kind}`).run();
    try {
      const result = work();
      this.prepared('commit').run();
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #rollBack(): void {
    try {
      this.prepared('rollback').run();
    } catch {
      // SQLite ended the transaction itself, as it does where the disk is full.
    }
  }
}

/** One connection to a file, opened when it is first needed. Every failure is a `store-error` that names the file. */
export class SqliteConnection {
  readonly #path: string;
  readonly #sqlite = builtInSqlite();
  #database: SqliteDatabase | undefined;
  #file: FilePlace | undefined;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Does the work at once; throws where the file cannot be opened or is being written by another process. */
  now<T>(work: (database: SqliteDatabase) => T): T {
    if (this.#isClosed) throw storeError(this.#place, new Error('the store is closed'));
    try {
      this.#database ??= this.#open();
      return work(this.#database);
    } catch (error) {
      if (isBusy(error)) throw error;
      throw storeError(this.#place, error);
    }
  }

  /** Does the work as soon as no other process is writing, within 10 seconds. */
  async use<T>(work: (database: SqliteDatabase) => T): Promise<T> {
    const deadline = performance.now() + longestWait;
    for (;;) {
      try {
        return this.now(work);
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw storeError(this.#place, error);
        // Processes that met once should not meet again.
        await delay(1 + Math.random() * 20);
      }
    }
  }

  /** As `use`, of work that writes. Rejects where the file is not at its path any more: nobody would find what is written. */
  write<T>(work: (database: SqliteDatabase) => T): Promise<T> {
    return this.use((database) => this.#whileThere(database, work));
  }

  /** As `now`, of work that writes. */
  writeNow<T>(work: (database: SqliteDatabase) => T): T {
    return this.now((database) => this.#whileThere(database, work));
  }

  close(): void {
    this.#isClosed = true;
    this.#database?.close();
    this.#database = undefined;
  }

  #whileThere<T>(database: SqliteDatabase, work: (database: SqliteDatabase) => T): T {
    this.#file?.check();
    return work(database);
  }

  get #place(): string {
    return `SQLite file "${this.#path}"`;
  }

  #open(): SqliteDatabase {
    const database = this.#opened();
    try {
      database.exec(settings);
      prepareSchema(database);
      const pages = Math.floor(longestLog / Number(pragma(database, 'page_size')));
      database.exec(`pragma wal_autocheckpoint = ${pages}`);
      this.#file = new FilePlace(this.#path);
      return new SqliteDatabase(database);
    } catch (error) {
      database.close();
      if (isBusy(error)) throw error;
      const { message } = openFailure(this.#path, error);
      throw new AgentError('store-error', `${this.#place}: ${message}`, { cause: error });
    }
  }

  #opened(): DatabaseSync {
    try {
      return new this.#sqlite.DatabaseSync(this.#path);
    } catch (error) {
      throw openFailure(this.#path, error);
    }
  }
}
