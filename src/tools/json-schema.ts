import { AgentError, errorData } from '../errors.ts';
import { isPlainObject, type JsonObject } from '../messages/json.ts';
import { isStandardSchema, type InputSchema, type StandardSchema } from './input-schema.ts';
import { walkSchema } from './walk-schema.ts';

/** Put by us where a library meets a type without JSON form, so that the walk can name the place. */
const mark = 'x-agentchart-not-json';

const fail = (toolName: string, problem: string, cause?: unknown): never => {
  throw new AgentError(
    'invalid-schema',
    `tool "${toolName}": inputSchema ${problem}`,
    cause === undefined ? {} : { cause },
  );
};

const arktypeMarks = (() => {
  const markIt = ({ base, code }: { base: object; code: string }) => ({
    ...base,
    [mark]: `this ${code} cannot be represented in JSON Schema`,
  });
  return { date: markIt, proto: markIt, domain: markIt, unit: markIt };
})();

/** Each library reads its own option (zod, valibot) and ignores the others. */
const markOptions = {
  fallback: arktypeMarks,
  unrepresentable: ({ message }: { message: string }) => ({ [mark]: message }),
  overrideSchema: ({ errors }: { errors?: readonly string[] }) => (errors?.[0] ? { [mark]: errors[0] } : undefined),
};

const howToMend =
  'Use a type that JSON has (a date or a bigint as a string, a map as a record, a set as an array), or pass { jsonSchema, validate }.';

const refuseMarked = (toolName: string, schema: unknown, cause?: unknown): void =>
  walkSchema(schema, (part, path) => {
    const isFile = part['format'] === 'binary' && part['contentEncoding'] === 'binary';
    const marked = part[mark];
    const reason =
      typeof marked === 'string' ? marked : isFile ? 'a File cannot be represented in JSON Schema' : undefined;
    if (reason !== undefined) {
      fail(toolName, `has no JSON schema form at "${path}": ${reason}. ${howToMend}`, cause);
    }
  });

const convert = (toolName: string, { '~standard': standard }: StandardSchema): Record<string, unknown> => {
  const target = 'draft-2020-12';
  try {
    // Arktype does not throw where a type has no JSON form, so its marks are asked for at once.
    const schema = standard.jsonSchema.input({ target, libraryOptions: { fallback: arktypeMarks } });
    refuseMarked(toolName, schema);
    return schema;
  } catch (error) {
    if (error instanceof AgentError) throw error;
    let marked: unknown;
    try {
      marked = standard.jsonSchema.input({ target, libraryOptions: markOptions });
    } catch {
      // The library knows no such option: its own message has to do.
    }
    refuseMarked(toolName, marked, error);
    return fail(toolName, `has no JSON schema form: ${errorData(error).message}. ${howToMend}`, error);
  }
};

const noJsonSchema = (toolName: string, vendor: unknown): never =>
  fail(
    toolName,
    `(${typeof vendor === 'string' ? vendor : 'unknown vendor'}) gives no JSON schema. ${
      vendor === 'valibot'
        ? 'Wrap it in toStandardJsonSchema() of @valibot/to-json-schema.'
        : vendor === 'zod'
          ? 'Use zod 4.6 or later (not zod/mini), or pass { jsonSchema, validate }.'
          : 'Pass { jsonSchema, validate }.'
    }`,
  );

const sourceOf = (toolName: string, schema: unknown): Record<string, unknown> => {
  if (isStandardSchema(schema)) {
    const standard: unknown = schema['~standard'];
    const isComplete = (value: unknown): value is StandardSchema['~standard'] =>
      typeof value === 'object' &&
      value !== null &&
      'validate' in value &&
      typeof value.validate === 'function' &&
      'jsonSchema' in value;
    if (!isComplete(standard)) {
      return noJsonSchema(
        toolName,
        typeof standard === 'object' && standard !== null && 'vendor' in standard && standard.vendor,
      );
    }
    return convert(toolName, { '~standard': standard });
  }
  if (!isPlainObject(schema) || !('jsonSchema' in schema)) {
    return fail(
      toolName,
      'must be a zod schema such as z.object({ … }), a Standard Schema that gives a JSON schema, or { jsonSchema, validate? }. Fields that are schemas go into z.object(); a plain JSON schema goes under the key jsonSchema.',
    );
  }
  const { jsonSchema, validate, ...rest } = schema;
  const unknown = Object.keys(rest)[0];
  if (unknown !== undefined) fail(toolName, `has an unknown key "${unknown}"; known: jsonSchema, validate.`);
  if (validate !== undefined && typeof validate !== 'function') fail(toolName, '.validate must be a function.');
  if (!isPlainObject(jsonSchema)) return fail(toolName, '.jsonSchema must be an object.');
  return jsonSchema;
};

const copyOf = (toolName: string, schema: Record<string, unknown>): JsonObject => {
  try {
    return JSON.parse(JSON.stringify(schema)) as JsonObject;
  } catch (error) {
    return fail(toolName, `is not plain JSON: ${errorData(error).message}`, error);
  }
};

/** A named root (`meta({ id })`) is a reference into `$defs`: put in its place, so that the root shows its type. */
const inlineRoot = (schema: JsonObject): JsonObject => {
  const { $ref, ...rest } = schema;
  const defs = schema['$defs'];
  if (typeof $ref !== 'string' || !$ref.startsWith('#/$defs/') || !isPlainObject(defs)) return schema;
  const name = $ref.slice('#/$defs/'.length);
  const target = Object.hasOwn(defs, name) ? defs[name] : undefined;
  return isPlainObject(target) ? { ...target, ...rest } : schema;
};

/** What several providers refuse, in words that all understand. */
const simplify = (part: Record<string, unknown>): void => {
  delete part['$schema'];
  const { oneOf, propertyNames } = part;
  const allOf: unknown[] = Array.isArray(part['allOf']) ? part['allOf'] : [];
  if (Array.isArray(oneOf)) {
    delete part['oneOf'];
    if ('anyOf' in part) part['allOf'] = [...allOf, { anyOf: oneOf }];
    else part['anyOf'] = oneOf;
  }
  const keys = isPlainObject(propertyNames) ? Object.entries(propertyNames) : [];
  if (keys.length === 1 && keys[0]?.[0] === 'type' && keys[0][1] === 'string') delete part['propertyNames'];
};

const checkRoot = (toolName: string, root: JsonObject): void => {
  const combined = ['anyOf', 'allOf', 'enum', 'const', 'not'].find((keyword) => keyword in root);
  if (root['type'] === 'object' && combined === undefined) return;
  const found = combined === undefined ? `type ${JSON.stringify(root['type']) ?? 'unknown'}` : `"${combined}"`;
  fail(
    toolName,
    `must be an object at its root, found ${found}: providers take nothing else. Put the value (or the union) into a property of an object.`,
  );
};

const deepFreeze = (value: unknown): void => {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const child of Object.values(value)) deepFreeze(child);
};

/**
 * The JSON schema (draft 2020-12) of a tool's input, as models are sent it: what a model may write, so a property with a
 * default is optional, and of a transform the side that is read. `oneOf` is sent as `anyOf`; `$schema` and empty `propertyNames`
 * are left out; `$ref` and `$defs` stay. The result is a frozen copy.
 *
 * Throws `AgentError` `invalid-schema`, naming the tool and the place, where a type has no JSON form (date, bigint, map, set,
 * undefined, symbol, function, class instance, file) or the root is not an object.
 */
export const inputJsonSchema = (toolName: string, schema: InputSchema): JsonObject => {
  const root = inlineRoot(copyOf(toolName, sourceOf(toolName, schema)));
  walkSchema(root, simplify);
  checkRoot(toolName, root);
  if (!isPlainObject(root['properties'])) root['properties'] = {};
  deepFreeze(root);
  return root;
};
