import { AgentError } from '../errors.ts';
import { isPlainObject } from '../messages/json.ts';

/** What an option may be, in words and as a check. */
export type Bound = { says: string; holds: (value: unknown) => boolean };

export const integer = (min: number): Bound => ({
  says: `an integer ≥ ${min}`,
  holds: (value) => Number.isInteger(value) && (value as number) >= min,
});
export const positive: Bound = {
  says: 'a number > 0',
  holds: (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
};
export const notNegative: Bound = {
  says: 'a number ≥ 0',
  holds: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
};
export const oneOf = (...values: readonly unknown[]): Bound => ({
  says: values.map((value) => JSON.stringify(value)).join(' or '),
  holds: (value) => values.includes(value),
});
export const isA = (type: 'string' | 'function' | 'boolean'): Bound => ({
  says: `a ${type}`,
  holds: (value) => typeof value === type,
});
export const isList: Bound = { says: 'an array', holds: Array.isArray };
export const listOf = (what: string, holds: Bound['holds']): Bound => ({
  says: `an array of ${what}`,
  holds: (value) => Array.isArray(value) && value.every(holds),
});
export const functions: Bound = {
  says: 'an array of functions',
  holds: (value) => Array.isArray(value) && value.every((item) => typeof item === 'function'),
};
export const isText = (min: number, max: number): Bound => ({
  says: `a string of ${min} to ${max.toLocaleString('en')} characters`,
  holds: (value) => typeof value === 'string' && value.length >= min && value.length <= max,
});
/** An object with these functions; a class instance may be one. */
export const has = (says: string, ...methods: readonly string[]): Bound => ({
  says,
  holds: (value) =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
});
/** What a timer of the platform can wait for: a longer one would ring at once. */
export const timer: Bound = {
  says: 'a number of ms > 0, at most 2147483647',
  holds: (value) => positive.holds(value) && (value as number) <= 2_147_483_647,
};
export const isObject: Bound = { says: 'an object', holds: (value) => typeof value === 'object' && value !== null };
export const isModel: Bound = {
  says: 'a ChatModel: an object with a name and a generate function, such as openaiChat({ … }) gives',
  holds: (value) =>
    typeof value === 'object' &&
    value !== null &&
    'generate' in value &&
    typeof value.generate === 'function' &&
    'name' in value &&
    typeof value.name === 'string',
};
export const either = (...bounds: readonly Bound[]): Bound => ({
  says: bounds.map(({ says }) => says).join(', or '),
  holds: (value) => bounds.some(({ holds }) => holds(value)),
});
/** The fields of an option that is an object. */
export type Shape = Readonly<Record<string, Bound>>;
export type Rules = Readonly<Record<string, Bound | Shape>>;

/** A value as an error message shows it. */
export const show = (value: unknown): string => {
  try {
    return typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : (JSON.stringify(value) ?? String(value)).slice(0, 200);
  } catch {
    return typeof value;
  }
};

const isBound = (rule: Bound | Shape): rule is Bound => typeof rule['holds'] === 'function';

const checkFields = (given: object, rules: Rules, where: string, path: string): void => {
  for (const [key, value] of Object.entries(given)) {
    const name = `${path}${key}`;
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
    if (rule === undefined) {
      throw new AgentError(
        'invalid-option',
        `${where}: there is no option "${name}"; known here: ${Object.keys(rules).join(', ')}`,
      );
    }
    if (value === undefined) continue;
    if (!isBound(rule)) {
      if (!isPlainObject(value)) {
        throw new AgentError('invalid-option', `${where}: option "${name}" must be an object, got ${show(value)}`);
      }
      checkFields(value, rule, where, `${name}.`);
    } else if (!rule.holds(value)) {
      throw new AgentError('invalid-option', `${where}: option "${name}" must be ${rule.says}, got ${show(value)}`);
    }
  }
};

/** Refuses options that are no object, that nobody knows, or that are out of bounds: `invalid-option` with the option, the value and the bound. */
export const checkGiven = (given: unknown, rules: Rules, where: string): void => {
  if (!isPlainObject(given)) {
    throw new AgentError('invalid-option', `${where}: options must be an object, got ${show(given)}`);
  }
  checkFields(given, rules, where, '');
};

/** The same for one argument that stands by itself. */
export const checkOne = (given: unknown, bound: Bound, what: string): void => {
  if (bound.holds(given)) return;
  throw new AgentError('invalid-option', `${what} must be ${bound.says}, got ${show(given)}`);
};
