import type { Commit, SessionStatus, SessionSummary } from './store.ts';

/** A session as its row and its last commit tell it. */
export interface SummaryRow {
  key: number;
  id: string;
  agent: string;
  machine: number;
  status: SessionStatus;
  pending: number;
  messages: number;
  revision: number;
  created: number;
  updated: number;
  /** Messages that are in the file. */
  stored: number;
}

/**
 * Whether a commit says all that the session's row would say: while a session is busy its row is not written with each commit. Of all other
 * sessions the row says everything, so that a list of many looks into no commits.
 */
export const isRowCurrent = (row: SummaryRow, { summary, messages }: Commit): boolean =>
  row.status === 'busy' &&
  summary.status === 'busy' &&
  row.pending === summary.pending &&
  row.messages + messages.length === summary.messages &&
  row.agent === summary.agent &&
  row.machine === summary.machineVersion;

const lastOfBusy = `case when status = 'busy' then
  (select max(id) from commits where id between key << 32 and (key << 32) + 0xffffffff) end`;

const stored = 'coalesce(last.stored, sessions.stored)';

/** When a session was changed last. */
export const changed = 'coalesce(last.at, updated)';

/** Selects rows of `SummaryRow`; a condition and an order may come behind. */
export const selectSummaries = `select key, sessions.id, agent, machine, status, pending, created, ${changed} as updated,
  coalesce(last.id & 0xffffffff, revision) as revision, ${stored} as stored,
  sessions.messages - sessions.stored + ${stored} as messages
  from sessions left join commits as last on last.id = ${lastOfBusy}`;

export const summaryOf = (row: SummaryRow): SessionSummary => ({
  sessionId: row.id,
  agent: row.agent,
  machineVersion: row.machine,
  status: row.status,
  pending: row.pending,
  messages: row.messages,
  revision: row.revision,
  createdAt: row.created,
  updatedAt: row.updated,
});
