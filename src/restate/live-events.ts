import type { AgentEvent } from '../sessions/agent-event.ts';

interface Wanted {
  /** `now`: without the turn so far that the reader is told first. */
  from: 'now' | 'turn';
  /** It ends with the turn. */
  isOne: boolean;
}

/** Events for one reader. Not the generator itself: one that waits for its next event would not hear that its reader leaves. */
export const liveEvents = (
  watch: (signal: AbortSignal) => AsyncGenerator<AgentEvent>,
  { from, isOne }: Wanted,
): AsyncIterable<AgentEvent> => ({
  [Symbol.asyncIterator]: () => {
    const left = new AbortController();
    const events = watch(left.signal);
    let skipped = from === 'now' ? Infinity : 0;
    let isFirst = true;
    const next = async (): Promise<IteratorResult<AgentEvent, undefined>> => {
      for (;;) {
        if (left.signal.aborted) return { done: true, value: undefined };
        const result = await events.next().catch((error: unknown) => {
          // What was asked for last is of no interest any more.
          if (left.signal.aborted) return { done: true as const, value: undefined };
          // Workers are not listened to any more either.
          left.abort();
          throw error;
        });
        if (result.done === true) return { done: true, value: undefined };
        const { value } = result;
        if (skipped > 0) {
          // The first one says how many follow it.
          skipped = isFirst && value.type === 'joined' ? value.toldAgain : skipped - 1;
          isFirst = false;
          continue;
        }
        // Nothing of the turn after it is for this reader.
        if (isOne && value.type === 'finish') left.abort();
        return { done: false, value };
      }
    };
    return {
      next,
      return: async () => {
        left.abort();
        return { done: true, value: undefined };
      },
    };
  },
});
