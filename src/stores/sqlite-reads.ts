import type { OutsideEvent } from '../machines/agent-context.ts';
import { listBounds } from './bounds.ts';
import { unpackMessages } from './packed-messages.ts';
import { unpackTransitions } from './packed-transitions.ts';
import { unpackRefusal } from './refusal.ts';
import type { SqliteDatabase } from './sqlite-connection.ts';
import { type SummaryRow, changed, selectSummaries, summaryOf } from './sqlite-summaries.ts';
import type { Command, HistoryEntry, ListOptions, RefusedCommand, SessionSummary, StoredSession } from './store.ts';

const find = `${selectSummaries} where sessions.id = ?`;
const keyOf = '(select key from sessions where id = ?)';
const statesBackwards = `select whole, stored, state from commits
  where id between (? << 32) + 1 and (? << 32) + cast(? as integer) order by id desc`;
const messagesApart = `select id & 0xffffffff as number, json from messages_apart
  where id between (? << 32) and (? << 32) + cast(? as integer)`;
const messagesInCommits = `select stored, messages from commits
  where id between (? << 32) + 1 and (? << 32) + cast(? as integer) and messages is not null`;
const historyOf = `select id & 0xffffffff as revision, at, transitions from commits
  where id > (${keyOf} << 32) + cast(? as integer) and id < (${keyOf} + 1 << 32) and transitions <> '' order by id limit ?`;
const inboxOf = `select id, event, at from commands where session = ${keyOf} and refused is null order by id`;
const refusalsOf = `select id, event, at, refused from commands
  where session = ${keyOf} and refused is not null and id > ? order by id`;

/** The states from the last whole one up to the revision, in order, and how many messages there were then. */
const statesAt = (database: SqliteDatabase, key: number, revision: number): { states: string[]; stored: number } => {
  const states: string[] = [];
  let stored = 0;
  for (const row of database.prepared(statesBackwards).iterate(key, key, revision)) {
    if (states.length === 0) stored = Number(row.stored);
    states.push(String(row.state));
    if (row.whole === 1) break;
  }
  return { states: states.toReversed(), stored };
};

/** The first `stored` messages, which are those of all commits up to the revision. */
const messagesAt = (database: SqliteDatabase, key: number, revision: number, stored: number): string[] => {
  const messages = Array.from<string>({ length: stored });
  for (const { number, json } of database.rows<{ number: number; json: string }>(messagesApart, key, key, stored - 1))
    messages[number] = json;
  const commits = database.rows<{ stored: number; messages: string }>(messagesInCommits, key, key, revision);
  for (const commit of commits) {
    const texts = unpackMessages(commit.messages);
    for (const [index, text] of texts.entries()) messages[commit.stored - texts.length + index] = text;
  }
  return messages;
};

/** Within a transaction, so that what is read fits together. */
export const readSession = (database: SqliteDatabase, sessionId: string, at?: number): StoredSession | undefined => {
  const row = database.row<SummaryRow>(find, sessionId);
  const revision = at ?? row?.revision ?? 0;
  if (row === undefined || !Number.isInteger(revision) || revision < 1 || revision > row.revision) return undefined;
  const { states, stored } = statesAt(database, row.key, revision);
  const messages = messagesAt(database, row.key, revision, stored);
  return { summary: summaryOf(row), revision, states, messages };
};

export const readHistory = (
  database: SqliteDatabase,
  sessionId: string,
  { after, limit }: { after: number; limit: number },
): HistoryEntry[] =>
  database
    .rows<{ revision: number; at: number; transitions: string }>(historyOf, sessionId, after, sessionId, limit)
    .flatMap(({ revision, at, transitions }) => unpackTransitions(transitions, revision, at));

export const listSessions = (database: SqliteDatabase, options: ListOptions): SessionSummary[] => {
  const { limit, offset } = listBounds(options);
  const wanted = [
    ['status = ?', options.status],
    ['agent = ?', options.agent],
    [`${changed} < ?`, options.changedBefore],
  ] as const;
  const given = wanted.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]));
  const where = given.length === 0 ? '' : `where ${given.map(({ condition }) => condition).join(' and ')}`;
  const sql = `${selectSummaries} ${where} order by updated desc, key desc limit ? offset ?`;
  return database.rows<SummaryRow>(sql, ...given.map(({ value }) => value), limit, offset).map(summaryOf);
};

export const readInbox = (database: SqliteDatabase, sessionId: string): Command[] =>
  database
    .rows<{ id: number; event: string; at: number }>(inboxOf, sessionId)
    .map(({ id, event, at }) => ({ id, event: JSON.parse(event) as OutsideEvent, at }));

export const readRefusals = (database: SqliteDatabase, sessionId: string, after: number): RefusedCommand[] =>
  database
    .rows<{ id: number; event: string; at: number; refused: string }>(refusalsOf, sessionId, after)
    .map((row) => unpackRefusal(row));

/** The id that was given last to a command; 0 before the first. */
export const lastCommand = (database: SqliteDatabase): number =>
  database.row<{ seq: number }>("select seq from sqlite_sequence where name = 'commands'")?.seq ?? 0;
