import { copyJson, isPlainObject } from './json.ts';

const maxDepth = 500;

/**
 * The same value with every lone surrogate replaced by U+FFFD, in strings and in keys (B139). The same object where there is none.
 * What is not plain JSON, and what lies deeper than 500 levels, is left as it is; so it never throws.
 */
export const wellFormed = <T>(value: T): T => (isWellFormed(value, 0) ? value : (mended(value, 0) as T));

/** Nearly all there is: looked at without a copy. */
const isWellFormed = (value: unknown, depth: number): boolean => {
  if (typeof value === 'string') return value.isWellFormed();
  if (depth > maxDepth) return true;
  if (Array.isArray(value)) return value.every((item) => isWellFormed(item, depth + 1));
  if (!isPlainObject(value)) return true;
  for (const key of Object.keys(value)) if (!key.isWellFormed() || !isWellFormed(value[key], depth + 1)) return false;
  return true;
};

const mended = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (depth > maxDepth) return value;
  if (Array.isArray(value)) {
    const given: readonly unknown[] = value;
    const items = given.map((item: unknown) => mended(item, depth + 1));
    return items.every((item, index) => item === given[index]) ? given : items;
  }
  if (!isPlainObject(value)) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const entry: [string, unknown] = [mended(key, 0) as string, mended(item, depth + 1)];
    if (entry[0] !== key || entry[1] !== item) changed = true;
    return entry;
  });
  return changed ? Object.fromEntries(entries) : value;
};

/** A copy of plain JSON in which every string is well-formed: both in one walk. */
export const wellFormedCopy = <T>(value: T): T => copied(value, 0) as T;

const copied = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (depth > maxDepth || !(Array.isArray(value) || isPlainObject(value))) return copyJson(value);
  if (Array.isArray(value)) return value.map((item: unknown) => copied(item, depth + 1));
  const copy = { ...value };
  for (const key of Object.keys(copy)) {
    if (!key.isWellFormed()) return copyJson(mended(value, depth));
    const item = copy[key];
    if (typeof item === 'string' ? !item.isWellFormed() : typeof item === 'object') copy[key] = copied(item, depth + 1);
  }
  return copy;
};
