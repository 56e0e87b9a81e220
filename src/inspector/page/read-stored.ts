import { type PackedEvents, unpackEvents } from '../packed-events.ts';
import { emptyView } from '../view-state.ts';
import type { Connection } from './connect.ts';
import { History } from './history.ts';

/** A session of a store, as far as it was told. */
export interface StoredPast {
  /** Names the list of its events. */
  run: string;
  history: History;
  /** The revision that was asked for. */
  revision?: number | undefined;
}

/** Reads a stored session, or what came since it was read; undefined where there is none, or no answer. */
export const readStored = async (
  session: string,
  before: StoredPast | undefined,
  { get }: Pick<Connection, 'get'>,
): Promise<StoredPast | undefined> => {
  const since = before === undefined ? '' : `&run=${before.run}&after=${before.history.keptUntil}`;
  const found = (await get(`/stored-session?id=${encodeURIComponent(session)}${since}`)) as
    | { run: string; packed: PackedEvents }
    | undefined;
  if (found === undefined) return undefined;
  const { run, packed } = found;
  const history = before?.run === run ? before.history : new History();
  if (before?.run !== run) history.begin(emptyView);
  history.add(unpackEvents(packed));
  return { run, history };
};
