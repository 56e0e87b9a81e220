/** Stands between two messages: JSON has no such character, but for the escaped one. */
const separator = '\u001E';

/** So many messages are one text. A history that is imported has more, and its text would be read into memory as a whole. */
const most = 16;

export const isPackable = (messages: readonly string[]): boolean => messages.length <= most;

/** The messages of a commit as one text; null where there are none. */
export const packMessages = (messages: readonly string[]): string | null =>
  messages.length === 0 ? null : messages.join(separator);

/** What `packMessages` packed. */
export const unpackMessages = (packed: string): string[] => packed.split(separator);
