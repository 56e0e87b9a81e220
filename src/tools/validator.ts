import type { JsonObject } from '../messages/json.ts';
import { isStandardSchema, type InputSchema, type JsonSchemaInput, type Validate } from './input-schema.ts';
import { walkSchema } from './walk-schema.ts';
import { isZodSchema, zodValidator } from './zod-validator.ts';

const anyObject: Validate = (input) => ({ value: input });

/** zod compares such a value by identity, so it would refuse every input. */
const holdsCompoundLiterals = (schema: unknown): boolean => {
  let found = false;
  walkSchema(schema, (part) => {
    const options: unknown[] = Array.isArray(part['enum']) ? part['enum'] : [];
    const literals = [part['const'], ...options];
    found ||= literals.some((literal) => typeof literal === 'object' && literal !== null);
  });
  return found;
};

const fromJsonSchema = async (schema: JsonSchemaInput['jsonSchema']): Promise<Validate> => {
  const { fromJSONSchema, registry } = await import('zod');
  if (holdsCompoundLiterals(schema)) return anyObject;
  try {
    const draft7 = 'definitions' in schema && !('$defs' in schema) && !('$schema' in schema);
    // A registry of its own: an id in two tools' schemas is no clash.
    const { '~standard': standard } = fromJSONSchema(schema, {
      registry: registry(),
      ...(draft7 ? { defaultTarget: 'draft-7' } : {}),
    });
    return async (input) => {
      const result = await standard.validate(input);
      return result.issues === undefined ? { value: input } : result;
    };
  } catch {
    return anyObject;
  }
};

const lazily = (schema: JsonSchemaInput['jsonSchema']): Validate => {
  let loading: Promise<Validate> | undefined;
  return async (input) => {
    loading ??= fromJsonSchema(schema).catch((error: unknown) => {
      // A chunk that did not load may load the next time.
      loading = undefined;
      throw error;
    });
    return (await loading)(input);
  };
};

const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

const byHand =
  (validate: NonNullable<JsonSchemaInput['validate']>): Validate =>
  (input) => {
    const value = validate(input);
    return isPromiseLike(value) ? Promise.resolve(value).then((settled) => ({ value: settled })) : { value };
  };

/** How a value is checked against a schema that `inputJsonSchema` took. zod is loaded only for a plain JSON schema, at its first check. */
export const createValidator = (schema: InputSchema): Validate => {
  if (isStandardSchema(schema)) {
    return isZodSchema(schema) ? zodValidator(schema) : (input) => schema['~standard'].validate(input);
  }
  const { jsonSchema, validate } = schema;
  // A copy: what the caller does to its schema later changes nothing.
  return validate === undefined ? lazily(JSON.parse(JSON.stringify(jsonSchema)) as JsonObject) : byHand(validate);
};
