import { setImmediate as breathe } from 'node:timers/promises';
import type { EventLog } from '../event-log.ts';
import { foldAll } from '../view-fold.ts';
import type { ViewState } from '../view-state.ts';

const perSlice = 2_000;

/** The view after the event of this number. */
export interface LogHead {
  view: ViewState;
  seq: number;
}

/**
 * What a log came to so far. A long one is read in slices, so that the process goes on with its own work meanwhile, and only what is
 * new since the last time.
 */
export const createLogHead = (log: EventLog): (() => Promise<LogHead>) => {
  let head: LogHead = { view: log.base(), seq: log.folded };
  let reading: Promise<LogHead> | undefined;

  const read = async (): Promise<LogHead> => {
    for (;;) {
      if (head.seq < log.folded) head = { view: log.base(), seq: log.folded };
      const events = log.after(head.seq, perSlice);
      if (events.length === 0) return head;
      head = { view: foldAll(head.view, events), seq: head.seq + events.length };
      await breathe();
    }
  };
  return () => {
    reading ??= read().finally(() => (reading = undefined));
    return reading;
  };
};
