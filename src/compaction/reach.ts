import { canonicalJson, isPlainObject } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import { boundariesOf } from './boundaries.ts';

/** How far a strategy has got: plain JSON, kept in the session. */
export interface Reach {
  name: string;
  /** How many messages are old to it. */
  upTo: number;
  /** Of the last of them: finds the place again where messages have come before it or have gone. */
  mark: string;
  /** What stands in place of the old ones. */
  text?: string;
}

/** Short and the same for the same message; not against anybody who means harm (FNV-1a, 32 bits, and the length). */
const markOf = (message: Message): string => {
  const text = canonicalJson(message);
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return `${(hash >>> 0).toString(36)}.${text.length}`;
};

export const reachOf = (name: string, messages: readonly Message[], upTo: number, text?: string): Reach => {
  const last = messages[upTo - 1];
  return {
    name,
    upTo,
    mark: last === undefined ? '' : markOf(last),
    ...(text === undefined ? {} : { text }),
  };
};

/**
 * The reach in these messages; undefined where its last message is not among them. It ends before a call whose result has come since: some
 * providers answer their own calls in a later reply.
 */
export const placed = (reach: Reach, messages: readonly Message[]): Reach | undefined => {
  const isLast = (message: Message | undefined): boolean => message !== undefined && markOf(message) === reach.mark;
  const end = isLast(messages[reach.upTo - 1]) ? reach.upTo : messages.findLastIndex(isLast) + 1;
  if (end === messages.length && end > 0) return { ...reach, upTo: end };
  const upTo = boundariesOf(messages).findLast((index) => index <= end) ?? 0;
  return upTo === 0 ? undefined : { ...reach, upTo };
};

/** What a session keeps of a compaction. */
export interface CompactionMemory {
  reaches: Reach[];
  /** What the provider had counted when the last strategy went on: as long as nothing else is counted, that says nothing of what is sent now. */
  counted?: number;
}

/** Reads what a session kept; what another compaction kept is nothing. */
export const readMemory = (memory: unknown): CompactionMemory => {
  if (!isPlainObject(memory)) return { reaches: [] };
  const { reaches, counted } = memory;
  return {
    reaches: (Array.isArray(reaches) ? reaches : []).flatMap((item: unknown) => {
      const { name, upTo, mark, text } = isPlainObject(item) ? item : {};
      if (typeof name !== 'string' || typeof mark !== 'string' || !Number.isSafeInteger(upTo)) return [];
      return [{ name, mark, upTo: Number(upTo), ...(typeof text === 'string' ? { text } : {}) }];
    }),
    ...(typeof counted === 'number' ? { counted } : {}),
  };
};
