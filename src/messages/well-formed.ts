import { isPlainObject } from './json.ts';

const maxDepth = 500;

/**
 * The same value with every lone surrogate replaced by U+FFFD, in strings and in keys (B139). The same object where there is none.
 * What is not plain JSON, and what lies deeper than 500 levels, is left as it is; so it never throws.
 */
export function wellFormed<T>(value: T, depth?: number): T;
export function wellFormed(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (depth > maxDepth) return value;
  if (Array.isArray(value)) {
    const given: readonly unknown[] = value;
    const items = given.map((item: unknown) => wellFormed(item, depth + 1));
    return items.every((item, index) => item === given[index]) ? given : items;
  }
  if (!isPlainObject(value)) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const entry: [string, unknown] = [wellFormed(key), wellFormed(item, depth + 1)];
    if (entry[0] !== key || entry[1] !== item) changed = true;
    return entry;
  });
  return changed ? Object.fromEntries(entries) : value;
}
