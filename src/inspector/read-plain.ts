import { isPlainObject } from '../messages/json.ts';

/** Readers for what is shown: a record may come from another version, or from a machine that is no agent. None of them throws. */
export const record = (value: unknown): Record<string, unknown> => (isPlainObject(value) ? value : {});

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Text as it is shown: of a long one its beginning, of one with a secret the rest. */
export const text = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const { $cut, $hidden, length } = record(value);
  if (typeof $cut === 'string') return `${$cut}… (${String(length)} characters)`;
  return typeof $hidden === 'string' ? $hidden : '';
};

export const optionalText = (value: unknown): string | undefined => {
  const shown = text(value);
  return shown === '' ? undefined : shown;
};
