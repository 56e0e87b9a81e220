import { AgentError } from '../errors.ts';
import { isPlainObject } from '../messages/json.ts';

/** Longer timers fire at once. */
const maxDelay = 2_147_483_647;

type Rule = readonly [expected: string, holds: (value: unknown) => boolean];
type Rules = Readonly<Record<string, Rule>>;

const isNumber = (value: unknown, min: number, max: number): value is number =>
  typeof value === 'number' && value >= min && value <= max;

const boolean: Rule = ['true or false', (value) => typeof value === 'boolean'];
const method: Rule = ['a function', (value) => typeof value === 'function'];
const count: Rule = ['an integer of at least 1', (value) => Number.isSafeInteger(value) && Number(value) >= 1];
const delay: Rule = [`a number of ms from 0 to ${maxDelay}`, (value) => isNumber(value, 0, maxDelay)];
const record: Rule = ['an object', isPlainObject];

const rules: Rules = {
  name: ['a text', (value) => typeof value === 'string'],
  description: ['a text', (value) => typeof value === 'string'],
  inputSchema: ['a schema', (value) => value !== null && (typeof value === 'object' || typeof value === 'function')],
  execute: method,
  needsApproval: ['true, false or a function', (value) => typeof value === 'boolean' || typeof value === 'function'],
  timeout: [`a number of ms above 0, at most ${maxDelay}`, (value) => isNumber(value, Number.MIN_VALUE, maxDelay)],
  retry: record,
  sequential: boolean,
  returnDirect: boolean,
  polling: boolean,
  annotations: record,
  onInterrupted: ["'report', 'retry' or 'ask'", (value) => ['report', 'retry', 'ask'].includes(String(value))],
  maxResultChars: count,
  toModelOutput: method,
};

const retryRules: Rules = { attempts: count, initialDelay: delay, maxDelay: delay, when: method };
const annotationRules: Rules = { readOnly: boolean, idempotent: boolean, destructive: boolean };

const shown = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
};

const checkRecord = (toolName: string, given: object, known: Rules, prefix = ''): void => {
  for (const [option, value] of Object.entries(given)) {
    const rule = Object.hasOwn(known, option) ? known[option] : undefined;
    if (rule === undefined) {
      throw new AgentError(
        'invalid-tool',
        `tool ${toolName}: unknown option "${prefix}${option}"; known: ${Object.keys(known).join(', ')}`,
      );
    }
    if (value !== undefined && !rule[1](value)) {
      throw new AgentError(
        'invalid-tool',
        `tool ${toolName}: option "${prefix}${option}" must be ${rule[0]}, got ${shown(value)}`,
      );
    }
  }
};

/** Throws `AgentError` `invalid-tool`, naming the tool, the option, the value and what is allowed. */
export const checkToolOptions = (options: unknown): void => {
  if (!isPlainObject(options)) throw new AgentError('invalid-tool', `tool() takes an object, got ${shown(options)}`);
  const { name, inputSchema, retry, annotations } = options;
  const toolName = shown(name);
  if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    throw new AgentError(
      'invalid-tool',
      `tool ${toolName}: option "name" must be 1 to 64 of the characters a-z, A-Z, 0-9, _ and - (providers take no others)`,
    );
  }
  checkRecord(toolName, options, rules);
  if (inputSchema === undefined) {
    throw new AgentError(
      'invalid-tool',
      `tool ${toolName}: option "inputSchema" is missing; a tool without parameters takes z.object({})`,
    );
  }
  if (isPlainObject(retry)) checkRecord(toolName, retry, retryRules, 'retry.');
  if (isPlainObject(annotations)) checkRecord(toolName, annotations, annotationRules, 'annotations.');
};
