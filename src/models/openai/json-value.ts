import { isPlainObject, type JsonObject, type JsonValue } from '../../messages/json.ts';

/** Narrows what came out of `JSON.parse`. */
export const isJsonObject = (value: unknown): value is JsonObject => isPlainObject(value);

/** As `Array.isArray`, which makes `any[]` of a read-only list. */
export const isJsonArray = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value);

export const hasKeys = (value: JsonObject): boolean => Object.keys(value).length > 0;
