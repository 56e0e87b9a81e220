import { systemClock } from '../actors/alarm.ts';
import { SilenceTimer } from '../actors/silence-timer.ts';
import { AgentError } from '../errors.ts';
import type { TurnResult } from '../machines/turn-result.ts';
import type { RunStream } from './agent.ts';
import type { AgentEvent } from './agent-event.ts';
import type { OwnSession } from './own-session.ts';
import { EventFeed, type ReadOptions } from './event-feed.ts';
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

type Result = IteratorResult<AgentEvent, undefined>;

/** A turn whose session may still be opened. Not a generator: one that waits for its next event would not hear that its reader leaves. */
class TurnStream implements RunStream, AsyncIterator<AgentEvent, undefined> {
  readonly #ready = Promise.withResolvers<EventReader | undefined>();
  #reader: EventReader | undefined;
  /** Where there is no session it tells why there are no events. */
  readonly result: Promise<RunResult>;

  constructor(start: (stream: TurnStream) => Promise<RunResult>) {
    this.result = start(this);
    const close = (): void => this.#close();
    this.result.then(close, close);
  }

  attach(reader: EventReader): void {
    this.#reader = reader;
    this.#ready.resolve(reader);
  }

  #close(): void {
    this.#ready.resolve(this.#reader);
    this.#reader?.close();
  }

  next(): Promise<Result> {
    return this.#reader === undefined ? this.#begin() : this.#reader.next();
  }

  async return(): Promise<Result> {
    const events = await this.#ready.promise;
    await events?.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #begin(): Promise<Result> {
    const events = await this.#ready.promise;
    if (events !== undefined) return events.next();
    await this.result;
    return { done: true, value: undefined };
  }
}

let kept: unknown;

/**
 * One of each kind of object that a delta passes, used by nobody. Whenever an engine collects its whole heap it forgets what it made fast for
 * kinds of which none lives: each stream that begins alone would begin slowly again.
 */
const keepOne = (): unknown => {
  const feed = new EventFeed({
    source: {},
    saved: () => Promise.resolve(),
    soFar: () => [],
    left: () => undefined,
  });
  const stream = new TurnStream(() => new Promise(() => undefined));
  stream.attach(feed.read());
  void stream.next();
  for (const text of ['a', 'b']) feed.publish({ type: 'text-delta', text });
  void stream.next();
  void stream.next();
  const timer = new SilenceTimer(systemClock, 60_000, () => undefined);
  timer.begin();
  timer.heard();
  timer.end();
  return { feed, stream, timer };
};

/** Starts at once; events that nobody has read yet are kept. */
export const streamTurn = (
  start: (watched: Watched) => Promise<RunResult>,
  options: StreamOptions | null = {},
): RunStream => {
  kept ??= keepOne();
  const leaving = new AbortController();
  const leave = (): void => {
    if (options?.onLeave !== 'detach') leaving.abort('the reader left');
  };
  let end: TurnResult | undefined;
  // A session that is joined tells its end in a copy.
  const isLast = (finish: FinishEvent): boolean => options?.from === 'turn' || finish.result === end;
  return new TurnStream((stream) =>
    start({
      attach: (opened) => stream.attach(opened.read({ from: options?.from, onLeave: leave, isLast })),
      left: leaving.signal,
      ended: (ended) => {
        end = ended;
      },
    }),
  );
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
