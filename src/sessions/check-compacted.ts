import { checkMessages } from '../messages/check-message.ts';
import { isPlainObject } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import { usageKinds } from '../messages/usage.ts';
import type { Compacted } from '../models/compaction.ts';
import { type Bound, checkOne, either, isA, isList, isObject, listOf, notNegative } from './option-bounds.ts';

const nothing: Bound = { says: 'absent', holds: (value) => value === undefined };

const isCall = (value: unknown): boolean => {
  if (!isPlainObject(value) || typeof value['model'] !== 'string') return false;
  const { usage = {} } = value;
  return (
    isPlainObject(usage) && usageKinds.every((kind) => usage[kind] === undefined || notNegative.holds(usage[kind]))
  );
};

const fields = {
  messages: isList,
  by: listOf('names', isA('string').holds),
  errors: either(nothing, isList),
  calls: either(nothing, listOf('{ model, usage? }', isCall)),
} satisfies Partial<Record<keyof Compacted, Bound>>;

/**
 * What a compaction gave is noted in the session and sent: throws what is wrong with it. Of its messages only those are looked at that are
 * not of `given`.
 */
export const checkCompacted = (compacted: Compacted, given: readonly Message[]): Compacted => {
  checkOne(compacted, isObject, 'what it gave');
  for (const [name, bound] of Object.entries(fields))
    checkOne(compacted[name as keyof Compacted], bound, `its ${name}`);
  const { messages } = compacted;
  const known = new Set(given);
  const made = messages.filter((message) => !known.has(message));
  if (made.length > 0) checkMessages(made);
  if (given.length > 0 && messages.every(({ role }) => role === 'tool')) throw new TypeError('it left nothing to send');
  return compacted;
};
