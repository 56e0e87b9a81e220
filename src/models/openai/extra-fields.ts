import type { JsonObject, JsonValue } from '../../messages/json.ts';
import { isJsonArray, isJsonObject } from './json-value.ts';

/** The fields of `value` that are not in `known` and say something: no null, no empty list. */
export const extraFields = (value: JsonObject, known: readonly string[]): JsonObject => {
  const extra: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const item = value[key];
    const empty = item === undefined || item === null || (isJsonArray(item) && item.length === 0);
    if (!empty) extra[key] = item;
  }
  return extra;
};

const growing = ['text', 'summary', 'data', 'thinking'];

/** Two pieces of one streamed block of thought: the same type and index, and the first is not signed yet. */
const isContinued = (last: JsonValue | undefined, next: JsonValue): last is JsonObject =>
  isJsonObject(last) &&
  isJsonObject(next) &&
  typeof next.type === 'string' &&
  /^(reasoning|thinking)/.test(next.type) &&
  next.type === last.type &&
  next.index === last.index &&
  !last.signature;

const mergeBlock = (last: JsonObject, next: JsonObject): JsonObject => {
  const merged = { ...last };
  for (const [key, item] of Object.entries(next)) {
    const before = merged[key];
    if (growing.includes(key) && typeof before === 'string' && typeof item === 'string') merged[key] = before + item;
    else if (item !== undefined && item !== null) merged[key] = item;
  }
  return merged;
};

const mergeLists = (list: readonly JsonValue[], more: readonly JsonValue[]): JsonValue[] => {
  const merged = [...list];
  for (const item of more) {
    const last = merged.at(-1);
    if (isContinued(last, item) && isJsonObject(item)) merged[merged.length - 1] = mergeBlock(last, item);
    else merged.push(item);
  }
  return merged;
};

const mergeValues = (before: JsonValue | undefined, next: JsonValue | undefined): JsonValue | undefined => {
  if (isJsonArray(next)) return mergeLists(isJsonArray(before) ? before : [], next);
  if (isJsonObject(before) && isJsonObject(next)) return mergeExtraFields(before, next);
  if (typeof before === 'string' && typeof next === 'string' && before !== next) return before + next;
  return next ?? before;
};

/** Puts together unknown fields that were streamed in pieces: lists and texts grow, objects are merged. */
export const mergeExtraFields = (before: JsonObject, next: JsonObject): JsonObject => {
  const merged = { ...before };
  for (const [key, item] of Object.entries(next)) merged[key] = mergeValues(merged[key], item);
  return merged;
};
