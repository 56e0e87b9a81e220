import { type Schema, type ValidationResult, Validator } from '@cfworker/json-schema';
import type { JsonObject, JsonValue } from '../../messages/json.ts';

export type Checked = { isRight: true; value: JsonValue } | { isRight: false; problems: string[] };

const place = (location: string): string => location.replace(/^#\/?/, '').replaceAll('/', '.') || 'arguments';

/** A schema that cannot be read here (a pattern of another language, a reference to elsewhere) says nothing: the agent checks as well. */
const fitOf = (value: JsonValue, schema: JsonObject | undefined): Pick<ValidationResult, 'valid' | 'errors'> => {
  const unknown = { valid: true, errors: [] };
  if (schema === undefined) return unknown;
  try {
    return new Validator(schema as Schema, '2020-12', false).validate(value);
  } catch {
    return unknown;
  }
};

/** What somebody typed, as JSON that fits the tool's schema, or what is wrong with it. */
export const checkText = (text: string, schema: JsonObject | undefined): Checked => {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    return { isRight: false, problems: [error instanceof Error ? error.message : 'not JSON'] };
  }
  const { valid, errors } = fitOf(value, schema);
  if (valid) return { isRight: true, value };
  // The root's own error only says that a property is wrong.
  const inner = errors.filter(({ keyword }) => keyword !== 'properties' && keyword !== '$ref' && keyword !== 'items');
  const shown = (inner.length > 0 ? inner : errors).map(
    ({ instanceLocation, error }) => `${place(instanceLocation)}: ${error}`,
  );
  return { isRight: false, problems: [...new Set(shown)] };
};
