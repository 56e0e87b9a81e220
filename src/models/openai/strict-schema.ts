import type { JsonObject, JsonValue } from '../../messages/json.ts';
import { isJsonArray, isJsonObject } from './json-value.ts';
import { mapSchemas, portableSchema } from './schema-walk.ts';

const propertiesOf = (schema: JsonObject): [string, JsonObject][] =>
  isJsonObject(schema.properties)
    ? Object.entries(schema.properties).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
    : [];

const isRequired = (schema: JsonObject, name: string): boolean =>
  isJsonArray(schema.required) && schema.required.includes(name);

const isObjectSchema = (schema: JsonObject): boolean => schema.type === 'object' || isJsonObject(schema.properties);

const acceptsNull = (schema: JsonObject): boolean =>
  schema.type === 'null' ||
  (isJsonArray(schema.type) && schema.type.includes('null')) ||
  [schema.anyOf, schema.oneOf].some(
    (branches) => isJsonArray(branches) && branches.some((branch) => isJsonObject(branch) && acceptsNull(branch)),
  );

const nullable = (schema: JsonObject): JsonObject =>
  acceptsNull(schema) ? schema : { anyOf: [schema, { type: 'null' }] };

const close = (schema: JsonObject): JsonObject => {
  const { default: _default, ...rest } = mapSchemas(schema, close);
  if (!isObjectSchema(schema)) return rest;
  const properties = propertiesOf(rest).map(([name, property]): [string, JsonObject] => [
    name,
    isRequired(schema, name) ? property : nullable(property),
  ]);
  return {
    ...rest,
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  };
};

const describing = ['type', 'anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const'];

/** Strict mode cannot say "any further key", nor a value of any type. */
const isOpen = (schema: JsonObject): boolean => {
  if (isObjectSchema(schema) && (schema.additionalProperties ?? false) !== false) return true;
  if (schema.patternProperties !== undefined || !describing.some((key) => schema[key] !== undefined)) return true;
  let open = false;
  mapSchemas(schema, (inner) => {
    open ||= isOpen(inner);
    return inner;
  });
  return open;
};

/**
 * The schema for a provider's strict mode: every property required, an optional one may be null instead, no other keys at any
 * level, no defaults. `undefined` where strict mode cannot say what the schema says (records, values of any type).
 */
export const strictSchema = (schema: JsonObject): JsonObject | undefined =>
  isOpen(schema) ? undefined : close(portableSchema(schema));

/** In strict mode where the schema allows it, else as it is. */
export const wireSchema = (schema: JsonObject, strict: boolean): { schema: JsonObject; strict?: boolean } => {
  if (!strict) return { schema: portableSchema(schema) };
  const closed = strictSchema(schema);
  return closed === undefined ? { schema: portableSchema(schema), strict: false } : { schema: closed, strict: true };
};

const resolve = (schema: JsonObject, root: JsonObject): JsonObject => {
  if (typeof schema.$ref !== 'string' || !schema.$ref.startsWith('#')) return schema;
  let target: JsonValue | undefined = root;
  for (const key of schema.$ref.split('/').slice(1)) {
    target = isJsonObject(target) ? target[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return isJsonObject(target) ? target : {};
};

/** The branch of a union that a value was written for: its required keys are there and its constants fit. */
const fits = (value: JsonObject, schema: JsonObject): boolean =>
  isObjectSchema(schema) &&
  Object.keys(value).every((name) => propertiesOf(schema).some(([known]) => known === name)) &&
  propertiesOf(schema).every(
    ([name, property]) =>
      (!isRequired(schema, name) || value[name] !== undefined) &&
      (property.const === undefined || property.const === value[name]),
  );

const branchOf = (value: JsonObject, schema: JsonObject, root: JsonObject): JsonObject => {
  const own = resolve(schema, root);
  const branches = [own.anyOf, own.oneOf].flatMap((list) => (isJsonArray(list) ? list.filter(isJsonObject) : []));
  for (const branch of branches) {
    const resolved = branchOf(value, branch, root);
    if (fits(value, resolved)) return resolved;
  }
  return own;
};

/** Takes out again the nulls that stand for "not given" in an answer to the strict form of `schema`. */
export const dropOptionalNulls = (value: JsonValue, schema: JsonObject, root: JsonObject = schema): JsonValue => {
  if (isJsonArray(value)) {
    const { items } = resolve(schema, root);
    return isJsonObject(items) ? value.map((item) => dropOptionalNulls(item, items, root)) : value;
  }
  if (!isJsonObject(value)) return value;
  const own = branchOf(value, schema, root);
  const kept: JsonObject = { ...value };
  for (const [name, property] of propertiesOf(own)) {
    const item = kept[name];
    if (item === null && !isRequired(own, name) && !acceptsNull(resolve(property, root))) delete kept[name];
    else if (item !== undefined) kept[name] = dropOptionalNulls(item, property, root);
  }
  return kept;
};
