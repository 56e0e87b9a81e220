/** What survives `JSON.parse(JSON.stringify(value))` unchanged. Arrays are read-only, as in the AI SDK's `JSONValue`. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue | undefined };

/** True for `{…}` as `JSON.parse` makes it, in any realm: no array, no null, no class instance. */
export const isPlainObject = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/**
 * JSON text with sorted keys: equal values give equal text, whatever the order of their keys. A key that holds `undefined` counts
 * as absent. Throws, as `JSON.stringify` does, for a bigint and for a cycle.
 */
export const canonicalJson = (value: unknown): string => plainCanonical(value, 0) ?? anyCanonical(value);

const anyCanonical = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) =>
    isPlainObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  ) ?? 'null';

const maxPlainDepth = 100;

/** The same for what is surely plain, several times as fast. Undefined for all else, also for keys that objects put in an order of their own. */
const plainCanonical = (value: unknown, depth: number): string | undefined => {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  if (depth > maxPlainDepth) return undefined;
  if (Array.isArray(value)) {
    let text = '';
    for (const item of value as readonly unknown[]) {
      const part = plainCanonical(item, depth + 1);
      if (part === undefined) return undefined;
      text += text === '' ? part : `,${part}`;
    }
    return `[${text}]`;
  }
  if (!isPlainObject(value)) return undefined;
  let text = '';
  for (const key of Object.keys(value).sort()) {
    const item = value[key];
    if (item === undefined) continue;
    const part = key >= '0' && key < ':' ? undefined : plainCanonical(item, depth + 1);
    if (part === undefined) return undefined;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${part}`;
  }
  return `{${text}}`;
};

/** A copy of plain JSON, several times as fast as `structuredClone`. */
export const copyJson = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null) return value;
  // What an array or object of JSON becomes has its type.
  if (Array.isArray(value)) return (value as readonly unknown[]).map((item) => copyJson(item)) as T;
  const copy = { ...(value as Record<string, unknown>) };
  for (const key of Object.keys(copy)) {
    const item = copy[key];
    if (typeof item === 'object' && item !== null) copy[key] = copyJson(item);
  }
  return copy as T;
};

/** How many levels a JSON value may have: whatever walks it finds its end. */
export const maxDepth = 500;

/** True for what JSON keeps as it is: no undefined, NaN, -0, bigint, date, class instance or cycle, nor more than 500 levels. */
export const isJson = (value: unknown, ancestors: readonly object[] = []): value is JsonValue => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0);
    case 'object': {
      if (value === null) return true;
      if (ancestors.length === maxDepth || ancestors.includes(value) || !(Array.isArray(value) || isPlainObject(value)))
        return false;
      const inside = [...ancestors, value];
      return Object.values(value).every((item) => isJson(item, inside));
    }
    default:
      return false;
  }
};
