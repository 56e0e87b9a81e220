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

/** Well-known shapes: keys of providers, of GitHub and Slack, bearer headers, JSON web tokens, passwords in addresses. */
const secretText =
  /\bsk-[\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bxox[abprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bBearer\s+[\w.~+/-]{16,}=*|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|(?<=:\/\/[^\s:/?#@]{0,80}:)[^\s/?#@]+(?=@)/g;

export const hidden = '••••••';

/** The text with secrets in it hidden; the same text where there are none. */
export const hideSecrets = (text: string): string => text.replace(secretText, hidden);
