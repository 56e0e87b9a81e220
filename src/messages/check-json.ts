import { AgentError } from '../errors.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { isPlainObject, maxDepth } from './json.ts';
import { plainCopy } from './plain-copy.ts';

/** A short name of a value for an error message; never its whole content. */
const describe = (value: unknown): string => {
  switch (typeof value) {
    case 'string':
      return value.length > 40 ? `${JSON.stringify(value.slice(0, 40))}…` : JSON.stringify(value);
    case 'bigint':
      return `${value}n`;
    case 'function':
    case 'symbol':
      return `a ${typeof value}`;
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
      return isPlainObject(value) ? 'an object' : `an object of ${value.constructor?.name ?? 'an unknown class'}`;
    default:
      return String(value);
  }
};

/** Throws the `invalid-message` error that says where, what was found and what is allowed. */
export const refuse = (path: string, found: unknown, allowed: string): never => {
  throw new AgentError('invalid-message', `${path}: found ${describe(found)}; allowed: ${allowed}`);
};

/** The names of an allow-list as an error message shows them. */
export const oneOf = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** The fields of a plain object. A `__proto__` among them is refused. */
export const fieldsOf = (value: unknown, path: string, allowed = 'an object'): Record<string, unknown> => {
  if (!isPlainObject(value)) return refuse(path, value, allowed);
  if (Object.hasOwn(value, '__proto__')) return refuse(`${path}.__proto__`, value['__proto__'], 'any other key');
  return value;
};

/** Text without lone surrogates, which no JSON API and no database takes (B139). */
export const stringOf = (value: unknown, path: string): string =>
  typeof value === 'string' ? value.toWellFormed() : refuse(path, value, 'a string');

/** `{ [name]: text }`, or `{}` where the field is absent. */
export const optionalText = <Name extends string>(
  fields: Record<string, unknown>,
  name: Name,
  path: string,
): { [key in Name]?: string } => {
  const value = fields[name];
  const found: { [key in Name]?: string } = {};
  return value === undefined ? found : { ...found, [name]: stringOf(value, `${path}.${name}`) };
};

const pathOf = (path: string, key: string): string =>
  /^[\w$]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

const copy = (value: unknown, path: string, around: readonly object[]): JsonValue => {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'bigint') return String(value);
  // `-0` is `0` after a round trip, so it is from the start.
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : refuse(path, value, 'a finite number');
  if (typeof value !== 'object') return refuse(path, value, 'a JSON value');
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (around.includes(value)) return refuse(path, value, 'a value without a cycle');
  if (around.length === maxDepth) return refuse(path, value, `at most ${maxDepth} levels`);
  const inside = [...around, value];
  if (Array.isArray(value))
    return Array.from(value, (item: unknown, index) =>
      item === undefined ? null : copy(item, `${path}[${index}]`, inside),
    );
  const entries = Object.entries(fieldsOf(value, path, 'a JSON value')).filter(([, item]) => item !== undefined);
  return Object.fromEntries(
    entries.map(([key, item]) => [key.toWellFormed(), copy(item, pathOf(path, key), inside)] as const),
  );
};

/**
 * A deep copy as plain JSON. Made JSON: Date → ISO text, bigint → digits, -0 → 0, `undefined` → left out (null in an array), lone
 * surrogates → U+FFFD. Refused: NaN and infinities, functions, symbols, instances of classes, cycles, more than 500
 * levels, `__proto__` keys.
 */
export const jsonOf = (value: unknown, path: string): JsonValue => plainCopy(value) ?? copy(value, path, []);

/** As `jsonOf`, for what must be an object. */
export const jsonObjectOf = (value: unknown, path: string): JsonObject => {
  const fields = fieldsOf(value, path);
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key.toWellFormed(), jsonOf(item, pathOf(path, key))] as const),
  );
};
