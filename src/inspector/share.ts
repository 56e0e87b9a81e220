import { isPlainObject } from '../messages/json.ts';

/**
 * `after` with every part that is equal to its place in `before` taken from there: what is the same is the same object, so that a
 * comparison by reference finds what is new.
 */
export const share = (before: unknown, after: unknown): unknown => {
  if (Object.is(before, after)) return before;
  if (Array.isArray(before) && Array.isArray(after)) {
    const items = after.map((item, index) => share(before[index], item));
    return items.length === before.length && items.every((item, index) => item === before[index]) ? before : items;
  }
  if (!isPlainObject(before) || !isPlainObject(after)) return after;
  const keys = Object.keys(after);
  let isSame = keys.length === Object.keys(before).length;
  const fields: Record<string, unknown> = {};
  for (const key of keys) {
    const value = Object.hasOwn(before, key) ? share(before[key], after[key]) : after[key];
    isSame &&= Object.hasOwn(before, key) && value === before[key];
    // `__proto__` as an own key stays one.
    Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return isSame ? before : fields;
};
