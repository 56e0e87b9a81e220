import type { JsonObject, JsonValue } from '../../messages/json.ts';
import { isJsonArray, isJsonObject } from './json-value.ts';

const byName = ['properties', '$defs', 'definitions', 'patternProperties'];
const single = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'];
const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];

/** Changes every schema inside a schema, and leaves what only looks like one, such as a default or a property named `items`. */
export const mapSchemas = (schema: JsonObject, change: (inner: JsonObject) => JsonObject): JsonObject => {
  const inner = (value: JsonValue | undefined): JsonValue | undefined => (isJsonObject(value) ? change(value) : value);
  const mapped: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (byName.includes(key) && isJsonObject(value)) {
      mapped[key] = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inner(item)]));
    } else if (lists.includes(key) && isJsonArray(value)) {
      mapped[key] = value.map((item) => (isJsonObject(item) ? change(item) : item));
    } else {
      mapped[key] = single.includes(key) ? inner(value) : value;
    }
  }
  return mapped;
};

/** A schema that servers take: `anyOf` in place of `oneOf`, and no `$schema`. */
export const portableSchema = (schema: JsonObject): JsonObject => {
  const { $schema: _dialect, oneOf, ...rest } = mapSchemas(schema, portableSchema);
  if (oneOf === undefined) return rest;
  return rest.anyOf === undefined ? { ...rest, anyOf: oneOf } : { ...rest, oneOf };
};
