import type { JsonValue } from './json.ts';

const maxPlainDepth = 100;

const isOwnObject = (value: object): value is Record<string, unknown> => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/**
 * A deep copy of what is surely plain JSON: in one walk, without a path or a list of entries for each value. Strings are made well-formed, members
 * that are `undefined` left out. Undefined for all else, which somebody has to look at more closely: other values, holes, what is nested
 * deeper than 100 levels or in a cycle, a `__proto__` key.
 */
export const plainCopy = (value: unknown, depth = 0): JsonValue | undefined => {
  switch (typeof value) {
    case 'string':
      return value.toWellFormed();
    case 'boolean':
      return value;
    case 'number':
      // `-0` is `0` in JSON.
      return Number.isFinite(value) ? value + 0 : undefined;
    case 'object':
      if (value === null) return null;
      if (depth === maxPlainDepth) return undefined;
      if (Array.isArray(value)) return copyItems(value, depth + 1);
      return isOwnObject(value) ? copyMembers(value, depth + 1) : undefined;
    default:
      return undefined;
  }
};

const copyItems = (items: readonly unknown[], depth: number): JsonValue[] | undefined => {
  const copy: JsonValue[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const item = plainCopy(items[index], depth);
    if (item === undefined) return undefined;
    copy.push(item);
  }
  return copy;
};

const copyMembers = (members: Record<string, unknown>, depth: number): Record<string, JsonValue> | undefined => {
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(members)) {
    const member = members[key];
    if (member === undefined) continue;
    const item = key === '__proto__' ? undefined : plainCopy(member, depth);
    if (item === undefined) return undefined;
    copy[key.toWellFormed()] = item;
  }
  return copy;
};
