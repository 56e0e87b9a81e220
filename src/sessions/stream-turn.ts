import { AgentError } from '../errors.ts';
import type { TurnResult } from '../machines/turn-result.ts';
import type { RunStream } from './agent.ts';
import type { AgentEvent } from './agent-event.ts';
import type { OwnSession } from './own-session.ts';
import type { ReadOptions } from './event-feed.ts';
import type { EventReader, FinishEvent } from './event-reader.ts';
import type { RunResult } from './session.ts';

interface StreamOptions {
  from?: ReadOptions['from'];
  /** What becomes of the turn when its reader leaves early. Default `stop`. */
  onLeave?: 'stop' | 'detach' | undefined;
}

/** What a stream lends to the turn that it starts. */
interface Watched {
  attach(session: OwnSession): void;
  /** Aborts when a reader leaves that is to stop the turn. */
  left: AbortSignal;
  /** The turn's own end, before it is saved: an event that tells of it is the last one. */
  ended(result: TurnResult): void;
}

/** Starts at once; events that nobody has read yet are kept. */
export const streamTurn = (
  start: (watched: Watched) => Promise<RunResult>,
  options: StreamOptions | null = {},
): RunStream => {
  const ready = Promise.withResolvers<EventReader | undefined>();
  const leaving = new AbortController();
  const leave = (): void => {
    if (options?.onLeave !== 'detach') leaving.abort('the reader left');
  };
  let reader: EventReader | undefined;
  let end: TurnResult | undefined;
  // A session that is joined tells its end in a copy.
  const isLast = (finish: FinishEvent): boolean => options?.from === 'turn' || finish.result === end;
  const result = start({
    attach: (opened) => {
      reader = opened.read({ from: options?.from, onLeave: leave, isLast });
      ready.resolve(reader);
    },
    left: leaving.signal,
    ended: (ended) => {
      end = ended;
    },
  });
  const begin = async (): Promise<IteratorResult<AgentEvent, undefined>> => {
    const events = await ready.promise;
    if (events !== undefined) return events.next();
    // No session, no events: the reader learns why.
    await result;
    return { done: true, value: undefined };
  };
  const close = (): void => {
    ready.resolve(reader);
    reader?.close();
  };
  result.then(close, close);
  return {
    result,
    // Not a generator: one that waits for its next event would not hear that its reader leaves.
    [Symbol.asyncIterator]: () => ({
      next: () => reader?.next() ?? begin(),
      return: async () => {
        const events = await ready.promise;
        await events?.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
};

/** The result of the turn, when it rests or waits and is saved. */
const endOfTurn = async (session: OwnSession): Promise<RunResult> => {
  for await (const event of session.read({ from: 'turn' })) {
    if (event.type === 'finish') return session.finish(event.result);
  }
  throw new AgentError('session-closed', `session "${session.id}" was closed before its turn ended`);
};

/** The turn under way for one more reader, who stops nothing when he leaves. */
export const joinTurn = (session: OwnSession): RunStream => {
  const stream = streamTurn(
    ({ attach }) => {
      attach(session);
      return endOfTurn(session);
    },
    { from: 'turn', onLeave: 'detach' },
  );
  // Who reads the events learns of a failure by them.
  stream.result.catch(() => undefined);
  return stream;
};
