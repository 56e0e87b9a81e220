import { isPlainObject } from '../messages/json.ts';
import { appendKey } from './path-text.ts';

type Step = (path: string, key: string) => string;

const same: Step = (path) => path;
const items: Step = (path) => `${path}[]`;
const anyKey: Step = (path) => `${path === '' ? '' : `${path}.`}*`;

/** Keywords that hold one schema, or a list of them. What stands under any other keyword is data: never looked into. */
const schemaKeywords: ReadonlyMap<string, Step> = new Map([
  ['items', items],
  ['additionalItems', items],
  ['unevaluatedItems', items],
  ['contains', items],
  ['prefixItems', items],
  ['additionalProperties', anyKey],
  ['unevaluatedProperties', anyKey],
  ['propertyNames', anyKey],
  ['allOf', same],
  ['anyOf', same],
  ['oneOf', same],
  ['not', same],
  ['if', same],
  ['then', same],
  ['else', same],
]);

/** Keywords that hold schemas by name. */
const mapKeywords: ReadonlyMap<string, Step> = new Map<string, Step>([
  ['properties', appendKey],
  ['patternProperties', anyKey],
  ['dependentSchemas', same],
  ['$defs', (_path, key) => `$defs.${key}`],
  ['definitions', (_path, key) => `definitions.${key}`],
]);

/**
 * Calls `visit` for a JSON schema and each schema inside it, outer ones first, with the path of the value that it describes:
 * `'users[].name'`, `''` for the root. `visit` may change the schema that it gets. References are not followed.
 */
export const walkSchema = (
  schema: unknown,
  visit: (schema: Record<string, unknown>, path: string) => void,
  path = '',
): void => {
  if (!isPlainObject(schema)) return;
  visit(schema, path);
  for (const [keyword, child] of Object.entries(schema)) {
    const step = schemaKeywords.get(keyword);
    if (step !== undefined) {
      for (const one of Array.isArray(child) ? child : [child]) walkSchema(one, visit, step(path, keyword));
    }
    const named = mapKeywords.get(keyword);
    if (named !== undefined && isPlainObject(child)) {
      for (const [key, one] of Object.entries(child)) walkSchema(one, visit, named(path, key));
    }
  }
};
