const words = [
  'api[-_]?key',
  'authorization',
  'proxy[-_]?authorization',
  '(?:access|auth|bearer|id|refresh|session)?[-_]?token',
  'pass(?:word|wd|phrase)',
  '(?:client[-_]?)?secret',
  '(?:set[-_]?)?cookie',
  'private[-_]?key',
  'credentials?',
  'x[-_]api[-_]key',
];
const secretKey = new RegExp(`^(?:${words.join('|')})$`, 'i');

/** Keys whose values never leave the process. `totalTokens` and the like are none. */
export const isSecretKey = (key: string): boolean => secretKey.test(key);

/** Well-known shapes: keys of providers, of GitHub and Slack, bearer headers, JSON web tokens. */
const secretText =
  /\bsk-[\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bxox[abprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bBearer\s+[\w.~+/-]{16,}=*|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g;

export const hidden = '••••••';

/** The text with secrets in it hidden; the same text where there are none. */
export const hideSecrets = (text: string): string => text.replace(secretText, hidden);
