import { isPlainObject } from '../messages/json.ts';
import { secretShapes } from '../messages/secret-shapes.ts';

const given = (by: string, value: string): RegExp =>
  new RegExp(String.raw`(?<=\b(?:password|passwd|secret|api[-_]?key|access[-_]?token)${by})${value}`, 'gi');

/** What keys, tokens and passwords look like where they stand in a text. */
const shapes: readonly RegExp[] = [
  ...secretShapes.map((source) => new RegExp(source, 'g')),
  /\b(?:sk|pk|rk)[-_][\w-]{16,}/g,
  // A JSON web token, and what stands behind `Bearer`.
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
  /(?<=\b(?:bearer|basic)\s+)[\w.~+/-]{8,}=*/gi,
  // A password in a URL, and one that is given by name.
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
  given(String.raw`["']?\s*[:=]\s*"`, String.raw`(?:[^"\\]|\\.)+`),
  given(String.raw`["']?\s*[:=]\s*'`, String.raw`(?:[^'\\]|\\.)+`),
  // Without quotes, or within a text of JSON that is quoted itself.
  given(String.raw`\\*["']?\s*[:=]\s*\\*["']?`, String.raw`(?:[^\s"'\\,;&]|\\(?!["']))+`),
];

const secretNames =
  /pass(?:word|wd|phrase)|\bpwd\b|secret|api[-_]?key|authori[sz]ation|cookie|credential|private[-_]?key|token$/i;

export const redacted = '[redacted]';

/** The text with `[redacted]` in place of what looks like a secret. It knows common shapes, not every secret. */
export const redactSecrets = (text: string): string =>
  shapes.reduce((rest, shape) => rest.replace(shape, redacted), text);

/** A copy of any value as JSON has it, its texts through `redact`, and those under a name such as `password` gone. */
export const redactAll = (value: unknown, redact: (text: string) => string): unknown => {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactAll(item, redact));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      item !== null && secretNames.test(key) ? redacted : redactAll(item, redact),
    ]),
  );
};
