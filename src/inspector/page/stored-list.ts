import type { ListedSession } from '../history-source.ts';

/** The sessions of a store that the page knows, those that changed last first. */
export interface StoredList {
  sessions: readonly ListedSession[];
  /** The store has more of them. */
  hasOlder: boolean;
}

/** As many as the server lists at once. */
const perList = 200;

const idsOf = (sessions: readonly ListedSession[]): Set<string> => new Set(sessions.map(({ id }) => id));

/** The newest ones anew. Older ones stay in the list, whether they were asked for or were among the newest before. */
export const withNewest = ({ sessions, hasOlder }: StoredList, newest: readonly ListedSession[]): StoredList => {
  const isAll = newest.length < perList;
  const ids = idsOf(newest);
  const joins = sessions.some(({ id }) => ids.has(id));
  if (isAll || !joins) return { sessions: newest, hasOlder: !isAll };
  const oldest = newest.at(-1)?.changedAt ?? 0;
  const older = sessions.filter(({ id, changedAt }) => !ids.has(id) && changedAt <= oldest);
  return { sessions: [...newest, ...older], hasOlder };
};

/** Those that changed before those that are listed. */
export const withOlder = ({ sessions }: StoredList, older: readonly ListedSession[]): StoredList => {
  const ids = idsOf(sessions);
  return {
    sessions: [...sessions, ...older.filter(({ id }) => !ids.has(id))],
    hasOlder: older.length >= perList,
  };
};
