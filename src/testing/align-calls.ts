import type { ModelCall } from '../machines/agent-context.ts';
import { type Message, callsOf } from '../messages/message.ts';

const hasCalls = (message: Message | undefined): boolean =>
  message?.role === 'assistant' && callsOf(message).length > 0;

/** How badly it fits that this call of the model gave this reply. */
const misfit = (message: Message | undefined, { finishReason }: ModelCall): number =>
  (finishReason === 'tool-calls' || finishReason === 'length') === hasCalls(message) ? 0 : 1;

/** How badly two replies in a row fit to their turns: after results the turn goes on, after an answer another one begins. */
const misplaced = (messages: readonly Message[], index: number, before: ModelCall, call: ModelCall): number => {
  if (messages[index - 1]?.role === 'tool') return before.turn === call.turn ? 0 : 2;
  const isAfterAnswer = messages.slice(0, index).findLast(({ role }) => role !== 'user')?.role === 'assistant';
  if (before.turn !== call.turn) return 0;
  // A message between results and a reply may have been read by the turn; more often it began one.
  return isAfterAnswer ? 2 : 0.5;
};

/**
 * Which call of the model gave which reply, by the reply's index: calls that gave an empty or refused reply left no message, so it is the
 * likeliest way to leave them out. Replies that stood in the history before the first call have none.
 */
export const alignCalls = (messages: readonly Message[], modelCalls: readonly ModelCall[]): Map<number, ModelCall> => {
  const all = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
  const replies = all.slice(Math.max(0, all.length - modelCalls.length));
  const unseen = modelCalls.length - replies.length;
  type Way = { cost: number; calls: ModelCall[] };
  /** The best way to each number of calls left out so far. */
  let ways: (Way | undefined)[] = Array.from({ length: unseen + 1 }, () => ({ cost: 0, calls: [] }));
  replies.forEach((index, position) => {
    ways = ways.map((_, skipped) => {
      const call = modelCalls[position + skipped];
      if (call === undefined) return undefined;
      let best: Way | undefined;
      for (const way of ways.slice(0, skipped + 1)) {
        const before = way?.calls.at(-1);
        if (way === undefined || (position > 0 && before === undefined)) continue;
        const moved = before === undefined ? 0 : misplaced(messages, index, before, call);
        const cost = way.cost + moved + misfit(messages[index], call);
        if (best === undefined || cost < best.cost) best = { cost, calls: [...way.calls, call] };
      }
      return best;
    });
  });
  const best = ways.reduce(
    (one, other) => (other !== undefined && (one === undefined || other.cost < one.cost) ? other : one),
    undefined,
  );
  return new Map(
    replies.flatMap((index, position) => {
      const call = best?.calls[position];
      return call === undefined ? [] : [[index, call]];
    }),
  );
};
