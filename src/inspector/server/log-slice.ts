import { encodeView } from '../encode.ts';
import type { EventLog } from '../event-log.ts';
import { packEvents } from '../packed-events.ts';

const maxLength = 1_000_000;

/**
 * Events after a number, as many as are read at once, as the JSON of a `LogSlice`. Where the log has moved on, they begin later, and
 * `base` is what was before.
 */
export const logSlice = (log: EventLog, asked: number, maxEvents = 10_000): string => {
  const after = Math.max(asked, log.folded);
  const base = asked < after ? `"base":${encodeView(log.base())},` : '';
  return `{${base}"packed":${packEvents(after, log.after(after, maxEvents), maxLength)}}`;
};
