import { hidden, isSecretKey } from './secrets.ts';

/**
 * Text that comes in pieces. What may be the beginning of a secret is held back until all of it is there, so that none is told in two
 * parts; a secret in one part is hidden wherever a text is told.
 */
export interface PieceMask {
  take(piece: string): string;
  /** What was held back, where nothing more comes. */
  rest(): string;
}

/** A longer word is no key. */
const maxWord = 4_096;
const inWord = /[\w.~+/=:@-]/;

/** Where the word begins that the text ends with, with what says of the next word that it is a secret. */
const lastWord = (text: string): number => {
  let at = text.length;
  // Most pieces end between words.
  while (at > 0 && inWord.test(text.charAt(at - 1))) at -= 1;
  const from = Math.max(0, at - 40);
  const scheme = /\b(?:Bearer|Basic)\s+$/.exec(text.slice(from, at));
  return scheme === null ? at : from + scheme.index;
};

export const textMask = (): PieceMask => {
  let held = '';
  return {
    take: (piece) => {
      const text = held + piece;
      const at = lastWord(text);
      const until = text.length - at > maxWord ? text.length : at;
      held = text.slice(until);
      return text.slice(0, until);
    },
    rest: () => {
      const text = held;
      held = '';
      return text;
    },
  };
};

/** JSON in pieces: also the values of keys that name a secret are hidden. Of text that is no JSON as much is shown as can be read. */
export const jsonMask = (): PieceMask => {
  const words = textMask();
  const around: string[] = [];
  let isKey = false;
  let key = '';
  let inText = false;
  let isEscaped = false;
  /** How deep the value stands that is hidden. */
  let hiddenAt: number | undefined;

  const readText = (char: string): void => {
    if (isEscaped) isEscaped = false;
    else if (char === '\\') isEscaped = true;
    else if (char === '"') inText = false;
    if (inText && isKey) key += char;
  };
  const readSign = (char: string): void => {
    if (char === '"') [inText, key] = [true, ''];
    else if (char === '{' || char === '[') around.push(char);
    else if (char === '}' || char === ']') around.pop();
    if (char === '{' || char === ',') isKey = around.at(-1) === '{';
    else if (char !== '"' && char.trim() !== '') isKey = false;
  };
  const isOver = (char: string): boolean =>
    hiddenAt !== undefined && (around.length < hiddenAt || (char === ',' && around.length === hiddenAt));

  return {
    take: (piece) => {
      let shown = '';
      for (const char of piece) {
        if (inText) readText(char);
        else {
          const namesSecret = char === ':' && isKey && isSecretKey(key);
          readSign(char);
          if (namesSecret && hiddenAt === undefined) {
            shown += `:"${hidden}"`;
            hiddenAt = around.length;
          }
          if (isOver(char)) hiddenAt = undefined;
        }
        if (hiddenAt === undefined) shown += char;
      }
      return words.take(shown);
    },
    rest: words.rest,
  };
};
