const unsafe = /[\p{Cc}\p{Bidi_Control}]/gu;

const escaped = (found: string): string => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Text of people, models and tools may hold what a terminal obeys: colours, cursor moves, reversed reading order. Line breaks stay. */
export const escapeText = (text: string): string =>
  text.replace(unsafe, (found) => (found === '\n' ? found : escaped(found)));

/** The same on one line. */
export const escapeLine = (text: string): string => text.replace(unsafe, escaped);
