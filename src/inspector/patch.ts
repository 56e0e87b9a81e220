import { isPlainObject } from '../messages/json.ts';

/**
 * What changed between two values that share what did not. `v` stands in place of the old one, `s` is added to a string, `o` holds
 * changes by key and `d` keys that went, `l` changes by index of the first `n` items, which stay, and `a` what follows them.
 */
export type Patch =
  | { v: unknown }
  | { s: string }
  | { o: Record<string, Patch>; d?: string[] }
  | { l: Record<string, Patch>; n: number; a?: unknown[] };

const maxDepth = 6;
/** A shorter string costs less than the words that say how it grew. */
const minGrown = 24;

/** Compares as a whole: many times faster than `startsWith`, which goes character by character. */
const hasGrown = (before: string, after: string): boolean =>
  before.length >= minGrown && after.length > before.length && after.slice(0, before.length) === before;

/** undefined: nothing changed. Compares by reference, so it costs what is new and not what is there. */
export const diff = (before: unknown, after: unknown, depth = 0): Patch | undefined => {
  if (Object.is(before, after)) return undefined;
  if (typeof before === 'string' && typeof after === 'string' && hasGrown(before, after))
    return { s: after.slice(before.length) };
  if (depth < maxDepth) {
    if (Array.isArray(before) && Array.isArray(after)) return diffLists(before, after, depth);
    if (isPlainObject(before) && isPlainObject(after)) return diffObjects(before, after, depth);
  }
  return { v: after };
};

/** `__proto__` as an own key stays one. */
export const setOwn = (object: object, key: string, value: unknown): void => {
  // Defining takes many times as long as writing.
  if (key !== '__proto__') (object as Record<string, unknown>)[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
};

/** A key that holds undefined is none: JSON has no form for it. */
const has = (object: Record<string, unknown>, key: string): boolean =>
  Object.hasOwn(object, key) && object[key] !== undefined;

const diffObjects = (
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  depth: number,
): Patch | undefined => {
  const changes: Record<string, Patch> = {};
  let isChanged = false;
  for (const key of Object.keys(after)) {
    if (!has(after, key)) continue;
    const change = has(before, key) ? diff(before[key], after[key], depth + 1) : { v: after[key] };
    if (change === undefined) continue;
    setOwn(changes, key, change);
    isChanged = true;
  }
  const gone = Object.keys(before).filter((key) => has(before, key) && !has(after, key));
  if (gone.length > 0) return { o: changes, d: gone };
  return isChanged ? { o: changes } : undefined;
};

const diffLists = (before: readonly unknown[], after: readonly unknown[], depth: number): Patch | undefined => {
  const kept = Math.min(before.length, after.length);
  const changes: Record<string, Patch> = {};
  let changed = 0;
  for (let index = 0; index < kept; index += 1) {
    const change = diff(before[index], after[index], depth + 1);
    if (change === undefined) continue;
    changes[index] = change;
    changed += 1;
  }
  if (changed === 0 && after.length === before.length) return undefined;
  // A list that moved up: all of it is new.
  if (changed > 0 && changed * 2 > kept && after.length < before.length) return { v: after };
  return { l: changes, n: kept, ...(after.length > kept ? { a: after.slice(kept) } : {}) };
};

/** What a long string became in a record: its beginning, and how long it was. */
export interface CutText {
  $cut: string;
  length: number;
}

export const maxText = 32_768;

export const cutText = (text: string, max = maxText): string | CutText =>
  text.length <= max ? text : { $cut: text.slice(0, max), length: text.length };

export const isCut = (value: unknown): value is CutText =>
  isPlainObject(value) && typeof value['$cut'] === 'string' && typeof value['length'] === 'number';

const grown = (value: unknown, text: string): unknown => {
  if (typeof value === 'string') return cutText(value + text);
  return isCut(value) ? { ...value, length: value.length + text.length } : value;
};

/** The value after the change; what did not change is shared with the one before. */
export const applyPatch = (value: unknown, patch: Patch): unknown => {
  if ('v' in patch) return patch.v;
  if ('s' in patch) return grown(value, patch.s);
  if ('l' in patch) {
    const list = Array.isArray(value) ? value.slice(0, patch.n) : [];
    for (const [index, change] of Object.entries(patch.l))
      list[Number(index)] = applyPatch(list[Number(index)], change);
    if (patch.a !== undefined) list.push(...patch.a);
    return list;
  }
  const object: Record<string, unknown> = isPlainObject(value) ? { ...value } : {};
  for (const [key, change] of Object.entries(patch.o))
    setOwn(object, key, applyPatch(Object.hasOwn(object, key) ? object[key] : undefined, change));
  for (const key of patch.d ?? []) delete object[key];
  return object;
};
