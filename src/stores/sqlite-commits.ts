import { isPackable, packMessages } from './packed-messages.ts';
import { packTransitions } from './packed-transitions.ts';
import { packRefusal } from './refusal.ts';
import { SessionConflictError } from './session-conflict.ts';
import { SqliteAppends, rowAfter } from './sqlite-appends.ts';
import { type SqliteConnection, type SqliteDatabase, isBusy } from './sqlite-connection.ts';
import { type SummaryRow, isRowCurrent, selectSummaries } from './sqlite-summaries.ts';
import type { Commit } from './store.ts';

const find = `${selectSummaries} where sessions.id = ?`;
const create = `insert into sessions (agent, machine, status, pending, messages, revision, created, updated, stored, id)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const change = `update sessions set agent = ?, machine = ?, status = ?, pending = ?, messages = ?, revision = ?, created = ?,
  updated = ?, stored = ? where key = ?`;
const addCommit = `insert into commits (id, at, whole, stored, transitions, state, messages)
  values ((? << 32) + cast(? as integer), ?, ?, ?, ?, ?, ?)`;
const addMessage = 'insert into messages_apart (id, json) values ((? << 32) + cast(? as integer), ?)';
const take = 'delete from commands where id = ? and session = ? and refused is null';
const refuse = 'update commands set refused = ? where id = ? and session = ? and refused is null';

/** Within a transaction. Gives the session's row after it, or the error of a commit that comes too late, and has written nothing then. */
const write = (database: SqliteDatabase, commit: Commit): SummaryRow | SessionConflictError => {
  const { summary, messages } = commit;
  const { sessionId, agent, machineVersion, status, pending, revision, createdAt, updatedAt } = summary;
  const known = database.row<SummaryRow>(find, sessionId);
  const isNext = revision === (known?.revision ?? 0) + 1 && (known?.created ?? createdAt) === createdAt;
  if (!isNext) return new SessionConflictError(sessionId);

  const before = known?.stored ?? 0;
  const stored = before + messages.length;
  const row = [
    agent,
    machineVersion,
    status,
    pending,
    summary.messages,
    revision,
    createdAt,
    updatedAt,
    stored,
  ] as const;
  if (known !== undefined && !isRowCurrent(known, commit)) database.run(change, ...row, known.key);
  const key = known?.key ?? database.run(create, ...row, sessionId).lastInsertRowid;

  const packed = isPackable(messages) ? packMessages(messages) : null;
  const texts = [packTransitions(commit.transitions), commit.state, packed] as const;
  database.run(addCommit, key, revision, updatedAt, commit.isWhole ? 1 : 0, stored, ...texts);
  if (!isPackable(messages))
    for (const [index, message] of messages.entries()) database.run(addMessage, key, before + index, message);
  for (const id of commit.taken) database.run(take, id, key);
  for (const refusal of commit.refused) database.run(refuse, packRefusal(refusal, updatedAt), refusal.id, key);
  return rowAfter(commit, key, before);
};

interface Waiting {
  commit: Commit;
  resolve: () => void;
  reject: (error: unknown) => void;
}

// Kept from the start: a test's false clock must not hold commits up.
const soon = globalThis.setImmediate;

/**
 * Writes the commits of one tick in one transaction. Each is checked for itself; one that fails does not harm the others. A session that is the
 * only one at work is not kept waiting for the others.
 */
export class SqliteCommits {
  readonly #connection: SqliteConnection;
  readonly #appends = new SqliteAppends();
  #waiting: Waiting[] = [];
  /** Added, and neither written nor refused yet. */
  #open = 0;
  /** The one session of the last transaction; undefined where there were several. */
  #alone: string | undefined;
  #written = Promise.resolve();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /** Writes at once the next commit of a session that was the last one to write; false where the commit is to be added, and nothing is written. */
  now(commit: Commit): boolean {
    if (this.#open > 0 || this.#alone !== commit.summary.sessionId) return false;
    try {
      return this.#connection.writeNow((database) => this.#appends.append(database, commit));
    } catch {
      // Who adds it waits for other processes, and is told what goes wrong.
      return false;
    }
  }

  add(commit: Commit): Promise<void> {
    this.#open += 1;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, resolve, reject });
      if (this.#waiting.length === 1) this.#written = this.#written.then(() => this.#writeSoon());
    });
  }

  /** Resolves when all that was added is written or refused. */
  settled(): Promise<void> {
    return this.#written;
  }

  async #writeSoon(): Promise<void> {
    await new Promise<void>((resolve) => {
      soon(resolve);
    });
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      await this.#writeAll(batch);
    } catch (error) {
      await this.#writeEach(batch, error);
    }
    this.#open -= batch.length;
    this.#alone = batch.length === 1 ? batch[0]?.commit.summary.sessionId : undefined;
  }

  /** One of them cannot be stored, or all of them: alone, each gets its own answer. */
  async #writeEach(batch: Waiting[], error: unknown): Promise<void> {
    // Nothing is wrong with any of them, and they have waited long enough.
    const isHopeless = batch.length === 1 || isBusy((error as Error).cause);
    for (const waiting of batch) {
      if (isHopeless) waiting.reject(error);
      else await this.#writeAll([waiting]).catch(waiting.reject);
    }
  }

  async #writeAll(batch: Waiting[]): Promise<void> {
    const [first] = batch;
    const written = await this.#connection.write((database) => {
      if (batch.length === 1 && first !== undefined && this.#appends.append(database, first.commit)) return undefined;
      return database.transaction('immediate', () => batch.map(({ commit }) => write(database, commit)));
    });
    for (const [index, { resolve, reject }] of batch.entries()) {
      const row = written?.[index];
      if (row instanceof SessionConflictError) {
        reject(row);
      } else {
        if (row !== undefined) this.#appends.keep(row);
        resolve();
      }
    }
  }
}
