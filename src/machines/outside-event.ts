import { isJson, isPlainObject } from '../messages/json.ts';
import type { OutsideEvent } from './agent-context.ts';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);

const decision = { callId: text, by: maybe(text), inputHash: maybe(text) };
const remember = maybe(oneOf('tool', 'input'));

const fields: Record<OutsideEvent['type'], Readonly<Record<string, Check>>> = {
  // Its messages are checked where they are read.
  'user.message': { mode: maybe(oneOf('queue', 'steer')), id: maybe(text), options: maybe(isPlainObject) },
  'approval.granted': { ...decision, remember, input: maybe((value) => isJson(value)) },
  'approval.rejected': { ...decision, remember, reason: maybe(text) },
  'call.result': { ...decision, output: (value) => isJson(value) },
  'call.cancel': { callId: text },
  'message.withdraw': { id: text, reason: maybe(text) },
  'turn.stop': { reason: maybe(text) },
  'turn.retry': {},
  'session.close': {},
};

/** False for an event whose fields are not of their types: nothing happens then, and nothing of it enters the session. */
export const isWellFormed = (event: OutsideEvent): boolean =>
  Object.hasOwn(fields, event.type) &&
  Object.entries(fields[event.type]).every(([name, holds]) => holds((event as Record<string, unknown>)[name]));
