const unsafe = /[\p{Cc}\p{Bidi_Control}]/gu;

const escaped = (found: string): string => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Text of models and tools on one line of a terminal: what a terminal would obey is shown, not done. */
export const escapeControl = (text: string): string => text.replace(unsafe, escaped);

/** Text of models and tools on a page: line breaks and tabs stay, what would turn the reading order or hide is shown. */
export const visible = (text: string): string =>
  text.replace(unsafe, (found) => (found === '\n' || found === '\t' ? found : escaped(found)));
