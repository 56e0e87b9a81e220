import { isPlainObject, type JsonValue } from '../messages/json.ts';
import { maxText, setOwn } from './patch.ts';
import { hidden, hideSecrets, isSecretKey } from './secrets.ts';

export interface PlainLimits {
  /** Characters of one string. */
  text: number;
  /** Values in all. */
  values: number;
  depth: number;
}

export const wholeLimits: PlainLimits = { text: maxText, values: 50_000, depth: 40 };
/** For what came with an event: enough to know it again. */
export const previewLimits: PlainLimits = { text: 200, values: 40, depth: 4 };

/**
 * Any value as plain JSON, for people to read: secrets hidden (`$hidden`), long strings cut (`$cut`), all else that JSON has not as an
 * object with one `$` key. Never throws, calls no `toJSON`, reads each property once.
 */
export const toPlain = (value: unknown, limits: PlainLimits = wholeLimits, key = ''): JsonValue => {
  // Most of what changes is a number: there is nothing to walk.
  if (key === '' && (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))) return value;
  let left = limits.values;
  const inside: object[] = [];

  const walkObject = (object: object): JsonValue => {
    if (inside.includes(object)) return { $circular: true };
    if (inside.length >= limits.depth) return { $more: true };
    inside.push(object);
    try {
      return walkKnown(object);
    } finally {
      inside.pop();
    }
  };

  const walkList = (list: readonly unknown[]): JsonValue[] => {
    const items: JsonValue[] = [];
    for (const item of list) {
      if (left <= 0) {
        items.push({ $more: list.length - items.length });
        break;
      }
      items.push(walk(item, '') ?? null);
    }
    return items;
  };

  const walkKnown = (object: object): JsonValue => {
    if (Array.isArray(object)) return walkList(object);
    if (object instanceof Date) return { $date: Number.isNaN(object.getTime()) ? 'invalid' : object.toISOString() };
    if (object instanceof Map) return { $map: walkList([...object]) };
    if (object instanceof Set) return { $set: walkList([...object]) };
    if (object instanceof Error) {
      return {
        $error: { name: String(object.name), message: hideSecrets(String(object.message).slice(0, limits.text)) },
      };
    }
    if (ArrayBuffer.isView(object) || object instanceof ArrayBuffer) return { $bytes: object.byteLength };
    const result: Record<string, JsonValue> = {};
    for (const name of Object.keys(object)) {
      if (left <= 0) {
        result['$more'] = true;
        break;
      }
      const item = walk(read(object, name), name);
      if (item === undefined) continue;
      setOwn(result, name, item);
    }
    return isPlainObject(object) ? result : { $class: classOf(object), ...result };
  };

  const walk = (item: unknown, name: string): JsonValue | undefined => {
    left -= 1;
    if (name !== '' && item !== undefined && item !== null && isSecretKey(name)) return { $hidden: hidden };
    switch (typeof item) {
      case 'string': {
        // Cut before it is searched: ten megabytes are not worth a look.
        const text = hideSecrets(item.length > limits.text ? item.slice(0, limits.text) : item);
        if (item.length > limits.text) return { $cut: text, length: item.length };
        return text === item ? text : { $hidden: text };
      }
      case 'boolean':
        return item;
      case 'number':
        return Number.isFinite(item) ? item : { $number: String(item) };
      case 'bigint':
        return { $bigint: String(item) };
      case 'undefined':
        return undefined;
      case 'function':
      case 'symbol':
        return { [`$${typeof item}`]: true };
      default:
        return item === null ? null : walkObject(item as object);
    }
  };

  try {
    return walk(value, key) ?? null;
  } catch {
    return { $unreadable: true };
  }
};

const classOf = (object: unknown): string => {
  const prototype: unknown = Object.getPrototypeOf(object);
  const { constructor } = Object(prototype) as { constructor?: unknown };
  return typeof constructor === 'function' ? constructor.name : 'unknown';
};

/** A getter may throw, a proxy may be revoked. */
const read = (object: object, name: string): unknown => {
  try {
    return (object as Record<string, unknown>)[name];
  } catch {
    return { $unreadable: true };
  }
};

/** True where nothing was hidden, cut or put into other words: it is what the program has. */
export const isWhole = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.every(isWhole);
  if (!isPlainObject(value)) return true;
  return Object.entries(value).every(([name, item]) => !marks.has(name) && isWhole(item));
};

const marks = new Set(
  ['hidden', 'cut', 'circular', 'more', 'date', 'map', 'set', 'error', 'bytes', 'class', 'number', 'bigint'].map(
    (name) => `$${name}`,
  ),
);
