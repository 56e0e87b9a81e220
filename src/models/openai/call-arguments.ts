import { isPlainObject, type JsonObject } from '../../messages/json.ts';
import { wellFormed } from '../../messages/well-formed.ts';
import { isJsonObject } from './json-value.ts';

const parseObject = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** True for the text of exactly one JSON object. */
export const isObjectText = (text: string): boolean => text.trimEnd().endsWith('}') && parseObject(text) !== undefined;

/**
 * The object that the text is, or the text as it came where it is anything else: nothing is repaired or guessed.
 * A leading `{}` in front of a whole object is a placeholder of the server and is passed over.
 */
export const parseArguments = (text: string): JsonObject | string =>
  parseObject(text) ?? parseObject(text.replace(/^\s*\{\s*\}/, '')) ?? text;

/**
 * The argument text of a call in the history: always a JSON object, since servers refuse a request that holds anything else.
 * No arguments at all go out as `{}`, an unreadable text as `{ "unreadable_arguments": text }`.
 */
export const argumentsText = (input: unknown): string => {
  const value = typeof input === 'string' ? parseArguments(input) : input;
  if (isPlainObject(value)) return JSON.stringify(wellFormed(value));
  if (value === undefined || value === null) return '{}';
  if (typeof value === 'string' && ['', 'null'].includes(value.trim())) return '{}';
  return JSON.stringify(wellFormed({ unreadable_arguments: value }));
};
