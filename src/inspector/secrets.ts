import { secretShapes } from '../messages/secret-shapes.ts';

const secretWords = /^(?:\w*(?:token|apikey|passw(?:or)?ds?|passphrases?)|pwd|secrets?|cookies?|credentials?)$/;
const secretPairs = /^(?:api|access|secret|private|signing|encryption) keys?$/;
/** A place in a list is called a token as well, and so is a piece of text. */
const plainTokens =
  /^(?:continuation|cursor|end|eos|first|last|max|min|next|page|pad|previous|prev|resume|start|stop|sync) token$/;

/** `githubToken`, `DB_PASSWORD` and `x-api-key` as words. */
const wordsOf = (key: string): string[] =>
  key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

const known = new Map<string, boolean>();
const maxKnown = 2_000;

/** Keys whose values never leave the process, however they are written and whatever stands before. `totalTokens` and `nextPageToken` are none. */
export const isSecretKey = (key: string): boolean => {
  if (key.length > 100) return false;
  let isSecret = known.get(key);
  if (isSecret === undefined) {
    isSecret = namesSecret(wordsOf(key));
    if (known.size < maxKnown) known.set(key, isSecret);
  }
  return isSecret;
};

const namesSecret = (words: readonly string[]): boolean => {
  const last = words.at(-1) ?? '';
  const pair = words.slice(-2).join(' ');
  if (last === 'authorization') return words.length === 1 || pair === 'proxy authorization';
  return secretPairs.test(pair) || (secretWords.test(last) && !plainTokens.test(pair));
};

/** Well-known shapes: keys of providers and others, bearer and basic headers, JSON web tokens, passwords in addresses. */
const secretText = new RegExp(
  [
    ...secretShapes,
    String.raw`\bBearer\s+[\w.~+/-]{16,}=*`,
    // Words that follow "Basic" have no such end.
    String.raw`\bBasic\s+[\w+/-]{8,}={1,2}`,
    String.raw`\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}`,
    String.raw`(?<=:\/\/[^\s:/?#@]{0,80}:)[^\s/?#@]+(?=@)`,
  ].join('|'),
  'g',
);

export const hidden = '••••••';

/** The text with secrets in it hidden; the same text where there are none. */
export const hideSecrets = (text: string): string => text.replace(secretText, hidden);
