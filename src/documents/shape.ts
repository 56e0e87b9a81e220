import { isPlainObject } from '../messages/json.ts';

/** What is wrong with a value, with its path; undefined for one that is right. */
export type Shape = (value: unknown, path: string) => string | undefined;

const kindOf = (value: unknown): string => {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};

const unlike = (value: unknown, path: string, like: string): string =>
  value === undefined ? `${path} is missing` : `${path} is ${kindOf(value)}, not ${like}`;

export const text: Shape = (value, path) => (typeof value === 'string' ? undefined : unlike(value, path, 'a text'));
export const flag: Shape = (value, path) =>
  typeof value === 'boolean' ? undefined : unlike(value, path, 'true or false');
export const anything: Shape = () => undefined;

export const count: Shape = (value, path) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? undefined : unlike(value, path, 'a number ≥ 0');
/** ms since 1970 as a `Date` can hold it: what rings later than that never rings. */
export const time: Shape = (value, path) =>
  typeof value === 'number' && value >= 0 && value <= 8.64e15
    ? undefined
    : unlike(value, path, 'a time in ms since 1970');
export const finite: Shape = (value, path) =>
  Number.isFinite(value) ? undefined : unlike(value, path, 'a finite number');
export const whole: Shape = (value, path) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : unlike(value, path, 'an integer ≥ 0');

export const oneOf =
  (...names: readonly string[]): Shape =>
  (value, path) =>
    typeof value === 'string' && names.includes(value)
      ? undefined
      : value === undefined
        ? `${path} is missing`
        : `${path} is none of ${names.join(', ')}`;

export const optional =
  (shape: Shape): Shape =>
  (value, path) =>
    value === undefined ? undefined : shape(value, path);
export const nullable =
  (shape: Shape): Shape =>
  (value, path) =>
    value === null ? undefined : shape(value, path);

export const listOf =
  (shape: Shape): Shape =>
  (value, path) => {
    if (!Array.isArray(value)) return unlike(value, path, 'an array');
    for (const [index, item] of value.entries()) {
      const found = shape(item, `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  };

/** An object with these fields; it may have others. */
export const objectOf =
  (fields: Readonly<Record<string, Shape>>): Shape =>
  (value, path) => {
    if (!isPlainObject(value)) return unlike(value, path, 'an object');
    for (const [key, shape] of Object.entries(fields)) {
      const found = shape(Object.hasOwn(value, key) ? value[key] : undefined, `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  };

/** An object with any keys, whose values are all of one shape. */
export const recordOf =
  (shape: Shape): Shape =>
  (value, path) =>
    isPlainObject(value)
      ? objectOf(Object.fromEntries(Object.keys(value).map((key) => [key, shape])))(value, path)
      : unlike(value, path, 'an object');

/** An object whose `type` says which fields it has. */
export const byType =
  (types: Readonly<Record<string, Readonly<Record<string, Shape>>>>): Shape =>
  (value, path) => {
    if (!isPlainObject(value)) return unlike(value, path, 'an object');
    const { type } = value;
    const fields = typeof type === 'string' && Object.hasOwn(types, type) ? types[type] : undefined;
    return fields === undefined ? oneOf(...Object.keys(types))(type, `${path}.type`) : objectOf(fields)(value, path);
  };

/** What a check that throws takes. */
export const takenBy =
  (check: (value: unknown, path: string) => unknown): Shape =>
  (value, path) => {
    try {
      check(value, path);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : `${path} cannot be read`;
    }
  };

export const all =
  (...shapes: readonly Shape[]): Shape =>
  (value, path) => {
    for (const shape of shapes) {
      const found = shape(value, path);
      if (found !== undefined) return found;
    }
    return undefined;
  };
