import { AgentError, isInstance } from '../errors.ts';
import { isPlainObject } from '../messages/json.ts';
import type { ContentPart, ToolOutput } from '../messages/message.ts';
import { isMcpResult, toContentParts } from './content-parts.ts';
import { safeMessage } from './error-text.ts';
import { failureOutput } from './failure-output.ts';
import { toPlainJson } from './plain-json.ts';
import type { Tool } from './tool.ts';
import { truncateText } from './truncate-text.ts';

/**
 * What a returned value means. With `error` it is a failure that counts like a thrown one; `output` is there too where the tool
 * itself worded its failure for the model, else `failureOutput(error)` words it.
 */
export type ReturnedOutput = { output: ToolOutput; error?: undefined } | { output?: ToolOutput; error: Error };

type OutputTool = Pick<Tool, 'name' | 'maxResultChars' | 'toModelOutput'>;

const success = 'Success: function completed.';

type Plain = Extract<ToolOutput, { type: 'text' | 'json' }>;

const textOutput = (text: string, maxChars: number): Plain => ({
  type: 'text',
  value: text === '' ? success : truncateText(text, maxChars),
});

const jsonOutput = (value: unknown, maxChars: number): Plain => {
  const plain = toPlainJson(value);
  if (typeof plain === 'string') return textOutput(plain, maxChars);
  const text = JSON.stringify(plain);
  return text.length <= maxChars ? { type: 'json', value: plain } : textOutput(text, maxChars);
};

/** Texts share `maxChars`; the data of files and images is never cut, for half of it is worth nothing. */
const contentOutput = (parts: readonly ContentPart[], maxChars: number): ToolOutput => {
  let left = maxChars;
  const value = parts.map((part) => {
    if (part.type !== 'text') return part;
    const text = truncateText(part.text, left);
    left = Math.max(0, left - part.text.length);
    return { ...part, text };
  });
  return { type: 'content', value };
};

const isError = (value: unknown): value is Error => {
  try {
    return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
  } catch {
    return false;
  }
};

const errorTextOf = (parts: readonly ContentPart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`)).join('\n');

/** A failure in the tool's own words. */
const worded = (words: unknown, maxChars: number): ReturnedOutput => {
  const isEmpty = words === undefined || words === null || words === '';
  const { value } = jsonOutput(isEmpty ? failureOutput(undefined).value : words, maxChars);
  const error = new Error(typeof value === 'string' ? value : JSON.stringify(value));
  return typeof value === 'string'
    ? { error, output: { type: 'error-text', value } }
    : { error, output: { type: 'error-json', value } };
};

const fromParts = (value: unknown, maxChars: number): ReturnedOutput | undefined => {
  const parts = toContentParts(value);
  if (isMcpResult(value)) {
    if (value.isError === true) return worded(parts === undefined ? value.content : errorTextOf(parts), maxChars);
    if (value.content.length === 0 && value.structuredContent !== undefined) {
      return { output: jsonOutput(value.structuredContent, maxChars) };
    }
  }
  return parts === undefined ? undefined : { output: contentOutput(parts, maxChars) };
};

const fromValue = (value: unknown, { maxResultChars }: OutputTool): ReturnedOutput => {
  const text = (result: string): ReturnedOutput => ({ output: textOutput(result, maxResultChars) });
  if (value === undefined || value === null) return text('');
  if (typeof value === 'string') return text(value);
  if (typeof value === 'symbol' || (typeof value === 'number' && !Number.isFinite(value))) return text(String(value));
  if (typeof value === 'function') return text('[a function]');
  try {
    const found = fromParts(value, maxResultChars);
    if (found !== undefined) return found;
  } catch {
    // A getter or proxy threw: told as JSON, member by member.
  }
  return { output: jsonOutput(value, maxResultChars) };
};

/** What stands in place of an output, without what may be long or secret in it. */
const kindOf = (given: unknown): string => {
  if (isInstance(given, Promise)) return 'a promise; it cannot be async';
  if (given === null || given === undefined) return String(given);
  if (Array.isArray(given)) return 'an array';
  if (!isPlainObject(given)) return `a value of type ${typeof given}`;
  const { type, value } = given;
  const name = typeof type === 'string' ? JSON.stringify(type.slice(0, 40)) : typeof type;
  return `{ type: ${name} } with a value of type ${value === null ? 'null' : typeof value}`;
};

const notAnOutput = (tool: OutputTool, given: unknown): ReturnedOutput => ({
  error: new AgentError(
    'invalid-tool',
    `tool "${tool.name}": toModelOutput must return { type: 'text' | 'json' | 'content' | 'error-text' | 'error-json' | 'execution-denied', … }, gave ${kindOf(given)}`,
  ),
});

/** `toModelOutput` is the caller's code: what it gives is checked, made plain and cut like any other result. */
const fromOverride = (output: unknown, tool: OutputTool): ReturnedOutput => {
  if (!isPlainObject(output)) return notAnOutput(tool, output);
  const { type, value, reason } = output;
  switch (type) {
    case 'text':
      if (typeof value !== 'string') return notAnOutput(tool, output);
      return { output: textOutput(value, tool.maxResultChars) };
    case 'json':
      return { output: jsonOutput(value, tool.maxResultChars) };
    case 'content': {
      const parts = Array.isArray(value) ? toContentParts(value) : undefined;
      if (parts === undefined) return notAnOutput(tool, output);
      return { output: contentOutput(parts, tool.maxResultChars) };
    }
    case 'error-text':
    case 'error-json':
      return worded(value, tool.maxResultChars);
    case 'execution-denied': {
      const denied = typeof reason === 'string' ? { reason: truncateText(reason, tool.maxResultChars) } : {};
      return { output: { type, ...denied } };
    }
    default:
      return notAnOutput(tool, output);
  }
};

/**
 * What a tool returned, as what the model reads (R15). Never throws.
 *
 * - a string as it is; `undefined`, `null` and `''` → `Success: function completed.`
 * - objects, arrays, numbers, booleans → JSON, by the rules of `toPlainJson`; a bigint its digits, a date ISO text, a symbol, NaN and
 *   Infinity as `String()` writes them, a function `[a function]`
 * - bytes, content parts, an MCP result → content parts, by the rules of `toContentParts`
 * - an `Error`, an MCP result with `isError`, an `error-*` output or a throw of `toModelOutput` → a failure
 *
 * `toModelOutput` has the word over all of it, except for an `Error`. Text or JSON longer than `maxResultChars` becomes text, is
 * cut, and says so.
 */
export const toToolOutput = (value: unknown, tool: OutputTool): ReturnedOutput => {
  if (isError(value)) return { error: value };
  try {
    return tool.toModelOutput === undefined ? fromValue(value, tool) : fromOverride(tool.toModelOutput(value), tool);
  } catch (error) {
    return { error: isError(error) ? error : new Error(safeMessage(error), { cause: error }) };
  }
};
