import { isJson, isPlainObject, type JsonValue, maxDepth } from '../messages/json.ts';

/** All that can be asked of a session from outside. `id` is new for every command: one that comes twice is done once. */
export type Command = { id: string; session: string } & (
  | { type: 'approve'; callId: string; inputHash: string; input?: JsonValue }
  | { type: 'reject'; callId: string; inputHash: string; reason?: string }
  | { type: 'respond'; callId: string; inputHash: string; output: JsonValue }
  | { type: 'cancel'; callId: string }
  | { type: 'stop'; reason?: string }
  | { type: 'retry' }
  /** A copy of the session as it was after the event `seq` of the log `run`, under an id of its own. */
  | { type: 'fork'; run: string; seq: number }
);

type Kind = 'text' | 'json' | 'number';
type Fields = Record<string, { kind: Kind; isOptional?: boolean }>;

const decision: Fields = { callId: { kind: 'text' }, inputHash: { kind: 'text' } };
const commands: Record<Command['type'], Fields> = {
  approve: { ...decision, input: { kind: 'json', isOptional: true } },
  reject: { ...decision, reason: { kind: 'text', isOptional: true } },
  respond: { ...decision, output: { kind: 'json' } },
  cancel: { callId: { kind: 'text' } },
  stop: { reason: { kind: 'text', isOptional: true } },
  retry: {},
  fork: { run: { kind: 'text' }, seq: { kind: 'number' } },
};
const always: Fields = { id: { kind: 'text' }, session: { kind: 'text' }, type: { kind: 'text' } };

const maxWord = 10_000;

const fits = (value: unknown, kind: Kind): boolean => {
  if (kind === 'json') return isJson(value);
  if (kind === 'number') return Number.isSafeInteger(value) && Number(value) >= 0;
  return typeof value === 'string' && value !== '' && value.length <= maxWord;
};

const kinds: Record<Kind, string> = {
  json: `a JSON value of at most ${maxDepth} levels`,
  text: 'a text',
  number: 'a whole number',
};

/** The command, or what is wrong with it, in words. Unknown types and unknown fields are refused: this list is closed. */
export const readCommand = (given: unknown): Command | string => {
  if (!isPlainObject(given)) return 'a command is an object';
  const { type } = given;
  if (typeof type !== 'string' || !Object.hasOwn(commands, type))
    return `unknown command; known: ${Object.keys(commands).join(', ')}`;
  const fields = { ...always, ...commands[type as Command['type']] };
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(fields, key));
  if (unknown !== undefined) return `"${type}" has an unknown field`;
  for (const [name, { kind, isOptional }] of Object.entries(fields)) {
    const value = given[name];
    if (value === undefined ? isOptional !== true : !fits(value, kind))
      return `"${type}" needs ${name}: ${kinds[kind]}`;
  }
  return given as Command;
};
