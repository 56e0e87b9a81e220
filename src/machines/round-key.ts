import { canonicalJson } from '../messages/json.ts';
import { callsOf } from '../messages/message.ts';
import type { CallRecord, Round } from './round.ts';

/** 64 bits of FNV-1a as 16 hex digits, in two halves. Good enough to suspect a repetition, not to prove anything. */
const digest = (text: string): string => {
  let high = 0x811c9dc5;
  let low = 0xc9dc5118;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193) >>> 0;
    low = Math.imul(low ^ (code + index), 0x01000193) >>> 0;
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
};

/**
 * Equal for two rounds whose calls had equal tools, arguments and results, in whatever order. '' where every call is of a tool that is
 * meant to be polled (R23).
 */
export const roundKey = (round: Round, isPolling: (call: CallRecord) => boolean): string => {
  const inputs = new Map(callsOf(round.reply).map((part) => [part.toolCallId, part.input]));
  const entries = round.calls
    .filter((call) => !isPolling(call))
    .map(({ callId, tool, result }) => canonicalJson([tool, inputs.get(callId), result?.output]));
  return entries.length === 0 ? '' : digest(entries.sort().join('\n'));
};
