import { escapeControl } from '../escape-control.ts';
import { hideSecrets } from '../secrets.ts';
import { toPlain } from '../to-plain.ts';

/** Text of models, tools and errors on one line of a terminal: nothing in it is obeyed, and no secret stands there. */
export const lineOf = (text: string): string => escapeControl(hideSecrets(text));

/** Data on one line, at most so many characters. */
export const lineOfJson = (value: unknown, max = 200): string => {
  const line = escapeControl(JSON.stringify(toPlain(value)));
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
};
