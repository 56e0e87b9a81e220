import { type PackedEvents, unpackEvents } from '../packed-events.ts';
import type { ViewState } from '../view-state.ts';
import type { Connection } from './connect.ts';
import type { History } from './history.ts';

interface LogSlice {
  /** What was before the events, where the log does not have it any more. */
  base?: ViewState;
  packed: PackedEvents;
}

/** Reads what was before the head, slice by slice: the page stays awake. Ends early where the process does not answer. */
export const readPast = async (
  history: History,
  run: string,
  { get }: Pick<Connection, 'get'>,
  changed: () => void,
): Promise<void> => {
  const ask = async (after: number): Promise<LogSlice | undefined> =>
    (await get(`/log?run=${run}&after=${after}`)) as LogSlice | undefined;
  let coming = ask(history.keptUntil);
  while (history.part < 1) {
    const slice = await coming;
    if (slice === undefined || slice.packed.events.length === 0) return;
    const { base, packed } = slice;
    // The page began anew meanwhile.
    if (base === undefined && packed.after !== history.keptUntil) {
      coming = ask(history.keptUntil);
      continue;
    }
    // The next one comes while this one is read.
    coming = ask(packed.after + packed.events.length);
    history.addPast(unpackEvents(packed), base);
    changed();
  }
};
