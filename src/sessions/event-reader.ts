import { copyJson } from '../messages/json.ts';
import type { AgentEvent } from './agent-event.ts';
import { holdFor, letGoFor } from './awaited.ts';
import { createEventBuffer } from './event-buffer.ts';

export type FinishEvent = Extract<AgentEvent, { type: 'finish' }>;

export interface EventReader extends AsyncIterableIterator<AgentEvent> {
  /** No more events: what is there is still read, then the iteration ends. */
  close(): void;
}

/** What a feed does with a reader. */
export interface FedReader extends EventReader {
  push(event: AgentEvent): void;
  /** Has begun to read, and has fallen behind. */
  isBehind(): boolean;
  /** Resolves when the reader is not behind, or not waited for any more. */
  caughtUp(): Promise<void>;
  /** It is not waited for until it reads again. */
  giveUp(): void;
}

export interface ReaderOptions {
  /** What tells the events; it lives as long as somebody waits for the next one. */
  source: object;
  /** The reader is closed or has left. */
  onEnd(): void;
  /** It left before it was closed. */
  onLeave(): void;
  /** Resolves when what is being saved is saved: a turn is over for its readers then (B130). */
  saved(): Promise<unknown>;
  /** Nothing is read after this one; asked when it is read. */
  isLast?: ((finish: FinishEvent) => boolean) | undefined;
}

/** Unread events beyond which a reader is behind. */
export const readAhead = 256;

type Result = IteratorResult<AgentEvent, undefined>;
const done: Result = { done: true, value: undefined };

/** Each reader has his own: what he changes in it is changed neither in the session nor for others. */
const holdsData = new Set<AgentEvent['type']>([
  'tool-call',
  'tool-result',
  'tool-progress',
  'approval-request',
  'finish',
]);

/** The events of one reader. Who is behind gets deltas joined, so that what is unread is no larger than what was said. */
export const createEventReader = ({ source, onEnd, onLeave, saved, isLast }: ReaderOptions): FedReader => {
  const buffer = createEventBuffer();
  const saves = new WeakMap<AgentEvent, Promise<unknown>>();
  const waiting: ((result: Result | Promise<Result>) => void)[] = [];
  let catchingUp: (() => void)[] = [];
  let isClosed = false;
  let hasBegun = false;
  let isGivenUp = false;
  let isOver = false;

  const isBehind = (): boolean => !isClosed && hasBegun && !isGivenUp && buffer.size >= readAhead;
  const look = (): void => {
    if (isBehind()) return;
    for (const resolve of catchingUp) resolve();
    catchingUp = [];
  };
  const resultOf = (event: AgentEvent): Result | Promise<Result> => {
    const result: Result = { done: false, value: holdsData.has(event.type) ? copyJson(event) : event };
    const save = event.type === 'finish' ? saves.get(event) : undefined;
    if (event.type !== 'finish' || save === undefined) return result;
    return save.then(() => {
      if (isLast?.(event) === true) isOver = true;
      return result;
    });
  };
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    onEnd();
    look();
    for (const resolve of waiting.splice(0)) resolve(done);
    letGoFor(waiting);
  };
  return {
    push: (event) => {
      if (isClosed) return;
      // The save begins when the chart is done with the step that says so.
      if (event.type === 'finish')
        saves.set(
          event,
          Promise.resolve()
            .then(saved)
            .catch(() => undefined),
        );
      const next = waiting.shift();
      if (waiting.length === 0) letGoFor(waiting);
      if (next !== undefined) next(resultOf(event));
      else if (buffer.size < readAhead) buffer.add(event);
      else buffer.join(event);
    },
    isBehind,
    caughtUp: () =>
      new Promise((resolve) => {
        catchingUp.push(resolve);
        look();
      }),
    giveUp: () => {
      isGivenUp = true;
      look();
    },
    close,
    next: () => {
      if (isOver) return Promise.resolve(done);
      hasBegun = true;
      isGivenUp = false;
      const event = buffer.shift();
      if (event !== undefined) {
        look();
        return Promise.resolve(resultOf(event));
      }
      if (isClosed) return Promise.resolve(done);
      holdFor(waiting, source);
      return new Promise((resolve) => waiting.push(resolve));
    },
    return: () => {
      const hasLeft = !isClosed;
      buffer.clear();
      close();
      if (hasLeft) onLeave();
      return Promise.resolve(done);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};
