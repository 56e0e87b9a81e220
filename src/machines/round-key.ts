import { canonicalJson } from '../messages/json.ts';
import { callsOf } from '../messages/message.ts';
import { digest } from './digest.ts';
import type { CallRecord, Round } from './round.ts';

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
