import { isPackable, packMessages } from './packed-messages.ts';
import { packTransitions } from './packed-transitions.ts';
import type { SqliteDatabase } from './sqlite-connection.ts';
import { type SummaryRow, isRowCurrent } from './sqlite-summaries.ts';
import type { Commit } from './store.ts';

// Nothing is added where the last commit is not the known one any more: then there is no time, without which no row can be. Neither is it where
// somebody has the revision already. A `select` of the whole row would go through a table of its own, since it reads what it writes.
const append = `insert or ignore into commits (id, at, whole, stored, transitions, state, messages)
  values (?, (select ? from commits as last join sessions on sessions.key = last.id >> 32
  where last.id = ? and last.at = ? and sessions.id = ? and created = ?), ?, ?, ?, ?, ?)`;

/** The id of a revision's commit: `session << 32 | revision`. */
const idOf = (key: number, revision: number): bigint => (BigInt(key) << 32n) + BigInt(revision);

/** The session's row after the commit. */
export const rowAfter = ({ summary, messages }: Commit, key: number, before: number): SummaryRow => ({
  key,
  id: summary.sessionId,
  agent: summary.agent,
  machine: summary.machineVersion,
  status: summary.status,
  pending: summary.pending,
  messages: summary.messages,
  revision: summary.revision,
  created: summary.createdAt,
  updated: summary.updatedAt,
  stored: before + messages.length,
});

/** So many are remembered: a session may be left in the midst of its turn. */
const most = 10_000;

/** Commits of sessions that are busy here: as long as nobody else writes them, each is one statement and a transaction of its own. */
export class SqliteAppends {
  readonly #rows = new Map<string, SummaryRow>();

  /** False where the commit is no mere next one of a session that was written last here; then nothing is written. */
  append(database: SqliteDatabase, commit: Commit): boolean {
    const { summary, state, isWhole, messages, transitions, taken, refused } = commit;
    const row = this.#rows.get(summary.sessionId);
    if (row === undefined || row.revision + 1 !== summary.revision || !isRowCurrent(row, commit)) return false;
    // Another session under the same id.
    if (row.created !== summary.createdAt) return false;
    if (taken.length + refused.length > 0 || !isPackable(messages)) return false;
    const { changes } = database.run(
      append,
      idOf(row.key, summary.revision),
      summary.updatedAt,
      idOf(row.key, row.revision),
      row.updated,
      row.id,
      row.created,
      isWhole ? 1 : 0,
      row.stored + messages.length,
      packTransitions(transitions),
      state,
      packMessages(messages),
    );
    if (changes === 1) this.keep(rowAfter(commit, row.key, row.stored));
    return changes === 1;
  }

  /** A session as it stands in the file now, by a commit of this process. */
  keep(row: SummaryRow): void {
    this.#rows.delete(row.id);
    if (row.status !== 'busy') return;
    this.#rows.set(row.id, row);
    if (this.#rows.size > most) for (const id of this.#rows.keys()) return void this.#rows.delete(id);
  }
}
