import { callsOf } from '../messages/message.ts';
import type { CallRecord, Round } from './round.ts';

const mix = (hash: number, value: number): number => {
  const mixed = Math.imul(hash ^ value, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
};

const textHash = (text: string, seed: number): number => {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return mix(hash, text.length);
};

/** Equal for equal JSON, in whatever order its keys stand: a text of it, with its keys sorted, would take many times as long. */
const jsonHash = (value: unknown, seed: number): number => {
  if (typeof value === 'string') return textHash(value, seed);
  if (typeof value !== 'object' || value === null) return textHash(String(value), seed + 1);
  let hash = seed + 2;
  if (Array.isArray(value)) {
    for (const item of value) hash = mix(hash, jsonHash(item, seed));
    return hash;
  }
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const item = members[key];
    if (item !== undefined) hash = (hash + mix(textHash(key, seed), jsonHash(item, seed))) | 0;
  }
  return mix(hash, 3);
};

/**
 * Equal for two rounds whose calls had equal tools, arguments and results, in whatever order. '' where every call is of a tool that is
 * meant to be polled (R23). 64 bits: good enough to suspect, not to prove anything.
 */
export const roundKey = (round: Round, isPolling: (call: CallRecord) => boolean): string => {
  const inputs = new Map(callsOf(round.reply).map((part) => [part.toolCallId, part.input]));
  const entries = round.calls
    .filter((call) => !isPolling(call))
    .map(({ callId, tool, result }) => [tool, inputs.get(callId), result?.output]);
  if (entries.length === 0) return '';
  const half = (seed: number): string => {
    const sum = entries.reduce((before, entry) => before + jsonHash(entry, seed), 0);
    return (sum >>> 0).toString(16).padStart(8, '0');
  };
  return half(0x11c9dc5) + half(0x5bd1e995);
};
