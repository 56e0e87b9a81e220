import { isPlainObject } from '../messages/json.ts';
import { safeMessage } from './error-text.ts';
import { inputIssues, isIssueList, type InputIssue } from './input-issues.ts';
import type { SchemaResult, Validate } from './input-schema.ts';
import { headOf } from './truncate-text.ts';

export type InputCheck = { ok: true; value: unknown } | { ok: false; issues: InputIssue[] };

type Read = { ok: true; value: Record<string, unknown> } | { ok: false; issues: InputIssue[] };

const refused = (message: string): { ok: false; issues: InputIssue[] } => ({
  ok: false,
  issues: [{ path: '', message }],
});

const describe = (value: unknown): string => {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an instance of a class';
  return `a ${typeof value}`;
};

const notAnObject = (reason: string) => refused(`not one JSON object: ${reason}`);

const copy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copy);
  return isPlainObject(value) ? copyObject(value) : value;
};

/** A copy, so that neither a schema nor a tool can change the history. Throws on the one key that sets a prototype. */
const copyObject = (value: Record<string, unknown>): Record<string, unknown> => {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw new Error('the key "__proto__" is not allowed');
    result[key] = copy(value[key]);
  }
  return result;
};

const readObject = (input: unknown): Read => {
  if (input === undefined || input === null) return { ok: true, value: {} };
  let value: unknown = input;
  if (typeof input === 'string') {
    if (input.trim() === '') return { ok: true, value: {} };
    try {
      value = JSON.parse(input);
    } catch (error) {
      return notAnObject(headOf(safeMessage(error), 200));
    }
    if (value === null) return { ok: true, value: {} };
    if (typeof value === 'string') return notAnObject('found a JSON string; do not encode the arguments twice');
  }
  if (!isPlainObject(value)) return notAnObject(`found ${describe(value)}`);
  return { ok: true, value: copyObject(value) };
};

const settle = (result: SchemaResult<unknown>): InputCheck =>
  result.issues === undefined ? { ok: true, value: result.value } : { ok: false, issues: inputIssues(result.issues) };

const refuse = (thrown: unknown): InputCheck => {
  try {
    const issues: unknown = typeof thrown === 'object' && thrown !== null && 'issues' in thrown && thrown.issues;
    if (isIssueList(issues)) return { ok: false, issues: inputIssues(issues) };
  } catch {
    // What was thrown can not even be looked at: the text below says enough.
  }
  return refused(`the check of the arguments failed: ${safeMessage(thrown)}`);
};

/**
 * Checks the arguments of a call (R17). `input` is an object, or the text of the model's arguments. Text is read as JSON and
 * never repaired: what is not exactly one JSON object is an issue that says so. Nothing (`''`, white space, `null`, the text
 * `null`) is checked as `{}`, so that a schema which accepts `{}` accepts it and another names the missing fields.
 *
 * `value` of the result is the schema's output and shares nothing with `input`. The key `__proto__` is refused at any depth.
 * Never throws, never rejects; a promise only where the schema checks asynchronously.
 */
export const checkInput = (validate: Validate, input: unknown): InputCheck | Promise<InputCheck> => {
  try {
    const read = readObject(input);
    if (!read.ok) return read;
    const result = validate(read.value);
    return 'then' in result ? Promise.resolve(result).then(settle).catch(refuse) : settle(result);
  } catch (error) {
    return refuse(error);
  }
};
