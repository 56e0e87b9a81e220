import { isPlainObject } from '../messages/json.ts';

/**
 * How one JSON value differs from another: a list is what is to be done (`['=', value]` takes its place, `['+', items]` come to the end of
 * a list, `['<', n, items]` the same after the first n are gone, `['-']` takes a key away), an object holds the changes of the keys (or the indexes) that changed.
 */
export type Change = ['=', unknown] | ['+', unknown[]] | ['<', number, unknown[]] | ['-'] | { [key: string]: Change };

type Fields = Record<string, unknown>;

/** What an object has itself under a key; a key such as `constructor` means nothing else here. */
const own = (value: Fields, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined);

/** Keys without a value are no keys: JSON does not keep them. No key can set a prototype. */
const keysOf = (value: Fields): string[] => {
  const keys = Object.keys(value);
  const isKept = (key: string): boolean => value[key] !== undefined && key !== '__proto__';
  return keys.every(isKept) ? keys : keys.filter(isKept);
};

/** How many items went from the front, where all the others stayed. */
const shifted = (before: readonly unknown[], after: readonly unknown[]): number => {
  if (after.length === 0 || before[0] === after[0]) return 0;
  const from = before.indexOf(after[0]);
  return from > 0 && before.slice(from).every((item, index) => item === after[index]) ? from : 0;
};

const ofLists = (before: readonly unknown[], after: readonly unknown[]): Change | undefined => {
  const gone = shifted(before, after);
  if (gone > 0) return ['<', gone, after.slice(before.length - gone)];
  if (after.length < before.length) return ['=', after];
  let changes: Record<string, Change> | undefined;
  // Most items are what they were, in lists that grow: it is no place for iterators.
  for (let index = 0; index < before.length; index += 1) {
    const item = before[index];
    if (item === after[index]) continue;
    const change = difference(item, after[index]);
    if (change !== undefined) (changes ??= {})[index] = change;
  }
  if (after.length > before.length) return changes === undefined ? ['+', after.slice(before.length)] : ['=', after];
  return changes;
};

const ofObjects = (before: Fields, after: Fields): Change | undefined => {
  let changes: Record<string, Change> | undefined;
  let kept = 0;
  for (const key of keysOf(after)) {
    const [was, is] = [own(before, key), after[key]];
    if (was !== undefined) kept += 1;
    const change = was === is ? undefined : difference(was, is);
    if (change !== undefined) (changes ??= {})[key] = change;
  }
  const keys = keysOf(before);
  if (keys.length === kept) return changes;
  for (const key of keys) if (own(after, key) === undefined) (changes ??= {})[key] = ['-'];
  return changes;
};

/** undefined where nothing differs. What is the same object in both is not looked into, so that the cost is that of what changed. */
export const difference = (before: unknown, after: unknown): Change | undefined => {
  if (before === after) return undefined;
  if (Array.isArray(before) && Array.isArray(after)) return ofLists(before, after);
  if (isPlainObject(before) && isPlainObject(after)) return ofObjects(before, after);
  return ['=', after];
};

/** The value after the change. What was before is not altered. Throws `TypeError` for a change that does not fit it. */
export const applied = (before: unknown, change: unknown): unknown => {
  if (Array.isArray(change)) {
    const [what, value, items] = change as [unknown, unknown, unknown];
    if (what === '=') return value;
    if (what === '+' && Array.isArray(before) && Array.isArray(value))
      return [...(before as unknown[]), ...(value as unknown[])];
    if (what === '<' && Array.isArray(before) && Number.isInteger(value) && Array.isArray(items))
      return [...(before as unknown[]).slice(Number(value)), ...(items as unknown[])];
    throw new TypeError('there is no such change of this value');
  }
  if (!isPlainObject(change)) throw new TypeError('a change is a list or an object');
  const keys = keysOf(change);
  if (Array.isArray(before)) {
    const items = [...(before as unknown[])];
    for (const key of keys) {
      if (!Object.hasOwn(items, key) || key === 'length')
        throw new TypeError('there is no such item that could change');
      items[Number(key)] = applied(items[Number(key)], change[key]);
    }
    return items;
  }
  if (keys.length === 0) return before;
  if (!isPlainObject(before)) throw new TypeError('there is nothing that could change in this way');
  const after: Fields = { ...before };
  for (const key of keys) {
    const inner = change[key];
    if (Array.isArray(inner) && inner[0] === '-') delete after[key];
    else after[key] = applied(own(before, key), inner);
  }
  return after;
};
