import type { RunStream } from './agent.ts';
import type { OwnSession } from './create-session.ts';
import type { EventReader } from './event-feed.ts';
import type { RunResult } from './session.ts';

/** Starts at once; events that nobody has read yet are kept. A reader that leaves early aborts its own turn: `left` tells. */
export const streamTurn = (
  start: (attach: (session: OwnSession) => void, left: AbortSignal) => Promise<RunResult>,
): RunStream => {
  const ready = Promise.withResolvers<EventReader | undefined>();
  const leaving = new AbortController();
  let reader: EventReader | undefined;
  const result = start((opened) => {
    reader = opened.read(() => leaving.abort('the reader left'));
    ready.resolve(reader);
  }, leaving.signal);
  const end = (): void => {
    ready.resolve(reader);
    reader?.close();
  };
  result.then(end, end);
  return {
    result,
    // Not a generator: one that waits for its next event would not hear that its reader leaves.
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const events = await ready.promise;
        if (events !== undefined) return events.next();
        // No session, no events: the reader learns why.
        await result;
        return { done: true, value: undefined };
      },
      return: async () => {
        const events = await ready.promise;
        await events?.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
};
