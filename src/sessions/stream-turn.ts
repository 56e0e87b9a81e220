import type { RunStream } from './agent.ts';
import type { OwnSession } from './create-session.ts';
import type { EventReader } from './event-feed.ts';
import type { RunResult } from './session.ts';

/** Starts at once; events that nobody has read yet are kept. */
export const streamTurn = (start: (attach: (session: OwnSession) => void) => Promise<RunResult>): RunStream => {
  const ready = Promise.withResolvers<EventReader | undefined>();
  let session: OwnSession | undefined;
  let reader: EventReader | undefined;
  const result = start((opened) => {
    session = opened;
    reader = opened.read(() => {
      session?.stop('the reader left').catch(() => undefined);
    });
    ready.resolve(reader);
  });
  const end = (): void => {
    ready.resolve(reader);
    reader?.close();
  };
  result.then(end, end);
  return {
    result,
    async *[Symbol.asyncIterator]() {
      const events = await ready.promise;
      // No session, no events: the reader learns why.
      if (events === undefined) await result;
      else yield* events;
    },
  };
};
