import { errorData } from '../errors.ts';
import { toBase64 } from '../messages/base64.ts';
import type { JsonObject, JsonValue } from '../messages/json.ts';
import { bytesOf } from './bytes.ts';
import { safeMessage } from './error-text.ts';

const maxDepth = 200;
const maxValues = 1_000_000;

interface Walk {
  /** The containers around the value, to know a cycle from a value that merely stands in two places. */
  readonly around: Set<object>;
  left: number;
}

const unreadable = (thrown: unknown): string => {
  const message = safeMessage(thrown);
  return message === '' ? '[unreadable]' : `[unreadable: ${message}]`;
};

/** `undefined` where JSON has no value. */
const convert = (value: unknown, walk: Walk, useToJson = true): JsonValue | undefined => {
  walk.left -= 1;
  if (walk.left < 0) return '[cut: too many values]';
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.toWellFormed();
  // JSON has no -0, NaN or Infinity.
  if (typeof value === 'number') return Number.isFinite(value) ? value || 0 : null;
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'object' ? convertObject(value, walk, useToJson) : undefined;
};

const convertObject = (value: object, walk: Walk, useToJson: boolean): JsonValue | undefined => {
  if (walk.around.has(value)) return '[Circular]';
  if (walk.around.size >= maxDepth) return '[cut: nested too deeply]';
  walk.around.add(value);
  try {
    return convertKnown(value, walk, useToJson);
  } catch (error) {
    return unreadable(error);
  } finally {
    walk.around.delete(value);
  }
};

const convertKnown = (value: object, walk: Walk, useToJson: boolean): JsonValue | undefined => {
  if (Array.isArray(value)) return convertItems(value, walk);
  if (value instanceof Date) return dateText(value);
  if (value instanceof Error) return convert(errorData(value), walk);
  if (value instanceof Map) return convertMap(value, walk);
  if (value instanceof Set) return convertItems([...value], walk);
  if (value instanceof RegExp) return String(value);
  if (value instanceof Blob) return `[a blob of ${value.size} bytes; return its bytes instead]`;
  if (value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt) {
    return convert(value.valueOf(), walk);
  }
  const bytes = bytesOf(value);
  if (bytes !== undefined) return toBase64(bytes);
  if (ArrayBuffer.isView(value)) return convertItems(Object.values(value), walk);
  if (useToJson && 'toJSON' in value && typeof value.toJSON === 'function') {
    const replaced: unknown = Reflect.apply(value.toJSON, value, []);
    if (replaced === value) return convertProperties(value, walk);
    return convert(replaced, walk, false);
  }
  return convertProperties(value, walk);
};

const convertItems = (items: readonly unknown[], walk: Walk): JsonValue[] => {
  const result: JsonValue[] = [];
  for (let index = 0; index < items.length; index += 1) {
    result.push(convertMember(items, index, walk) ?? null);
    if (walk.left < 0) break;
  }
  return result;
};

const convertProperties = (value: object, walk: Walk): JsonObject => {
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (walk.left < 0) break;
    setProperty(result, key, convertMember(value, key, walk));
  }
  return result;
};

const convertMap = (map: ReadonlyMap<unknown, unknown>, walk: Walk): JsonValue => {
  const entries = [...map];
  if (!entries.every(([key]) => typeof key === 'string')) return convertItems(entries, walk);
  const result: JsonObject = {};
  for (const [key, value] of entries) setProperty(result, String(key), convert(value, walk));
  return result;
};

/** Reading may throw: a getter, a proxy. The other members are still told. */
const convertMember = (container: object, key: PropertyKey, walk: Walk): JsonValue | undefined => {
  let member: unknown;
  try {
    member = Reflect.get(container, key);
  } catch (error) {
    return unreadable(error);
  }
  return convert(member, walk);
};

const setProperty = (target: JsonObject, key: string, value: JsonValue | undefined): void => {
  if (value !== undefined && key !== '__proto__') target[key.toWellFormed()] = value;
};

/** ISO, in UTC. */
const dateText = (date: Date): string => (Number.isNaN(date.getTime()) ? 'Invalid Date' : date.toISOString());

/**
 * Any value as JSON that `JSON.parse(JSON.stringify(x))` gives back unchanged. Like `JSON.stringify` it drops members that are
 * undefined, a function or a symbol (null in an array), reads `toJSON`, and makes NaN and Infinity null. Unlike it: a cycle is
 * `'[Circular]'`, a bigint its digits, a map an object (or a list of entries where a key is no string), a set an array, bytes
 * base64, other typed arrays numbers, an error its name and message, an invalid date `'Invalid Date'`, and what throws when it is read
 * `'[unreadable: …]'`. The key `__proto__` is dropped. Cut with a text in place: below 200 levels, after 1,000,000 values.
 * Never throws.
 */
export const toPlainJson = (value: unknown): JsonValue =>
  convert(value, { around: new Set(), left: maxValues }) ?? null;
