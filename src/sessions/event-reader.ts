import { copyJson } from '../messages/json.ts';
import type { AgentEvent } from './agent-event.ts';
import { holdFor, letGoFor } from './awaited.ts';
import { EventBuffer } from './event-buffer.ts';

export type FinishEvent = Extract<AgentEvent, { type: 'finish' }>;

export interface EventReader extends AsyncIterableIterator<AgentEvent> {
  /** No more events: what is there is still read, then the iteration ends. */
  close(): void;
}

export interface ReaderOptions {
  /** What tells the events; it lives as long as somebody waits for the next one. */
  source: object;
  /** The reader is closed or has left. */
  onEnd(reader: FedReader): void;
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
type Resolve = (result: Result | Promise<Result>) => void;
const done: Result = { done: true, value: undefined };

/** Each reader has his own: what he changes in it is changed neither in the session nor for others. */
const holdsData = new Set<AgentEvent['type']>([
  'tool-call',
  'tool-result',
  'tool-progress',
  'approval-request',
  'finish',
]);

/**
 * The events of one reader. Who is behind gets deltas joined, so that what is unread is no larger than what was said.
 *
 * A class, as all that a delta passes: code that was made fast for the methods of one session goes with them, and would be made anew for the
 * next one.
 */
export class FedReader implements EventReader {
  readonly #options: ReaderOptions;
  readonly #buffer = new EventBuffer();
  readonly #saves = new WeakMap<AgentEvent, Promise<unknown>>();
  // Nearly always one at most: a list would be made anew for each event.
  #waiter: Resolve | undefined;
  readonly #waiting: Resolve[] = [];
  #catchingUp: (() => void)[] = [];
  #isClosed = false;
  #hasBegun = false;
  #isGivenUp = false;
  #isOver = false;
  /** How it ends for who reads on. */
  #end: Result | Promise<Result> = done;
  /** What tells the events lives for the sake of who waits here. */
  #isHeld = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** Gives how many events are unread then. */
  push(event: AgentEvent): number {
    if (this.#isClosed) return 0;
    if (event.type === 'finish') this.#save(event);
    if (this.#waiter !== undefined) {
      const resolve = this.#waiter;
      this.#waiter = this.#waiting.length === 0 ? undefined : this.#waiting.shift();
      // After a piece of a reply something always follows: by then he waits again, or is let go of.
      if (this.#waiter === undefined && event.type !== 'text-delta') this.#letGo();
      resolve(this.#resultOf(event));
      return 0;
    }
    this.#letGo();
    if (this.#buffer.size < readAhead) this.#buffer.add(event);
    else this.#buffer.join(event);
    return this.#buffer.size;
  }

  /** Has begun to read, and has fallen behind. */
  isBehind(): boolean {
    return this.#buffer.size >= readAhead && !this.#isClosed && this.#hasBegun && !this.#isGivenUp;
  }

  /** Resolves when the reader is not behind, or not waited for any more. */
  caughtUp(): Promise<void> {
    return new Promise((resolve) => {
      this.#catchingUp.push(resolve);
      this.#look();
    });
  }

  /** It is not waited for until it reads again. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#look();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.onEnd(this);
    this.#look();
    this.#waiter?.(this.#end);
    this.#waiter = undefined;
    for (const resolve of this.#waiting.splice(0)) resolve(this.#end);
    this.#letGo();
  }

  /** No more events, and whoever reads learns why. */
  fail(error: unknown): void {
    const end = Promise.reject<Result>(error);
    end.catch(() => undefined);
    this.#end = end;
    this.close();
  }

  /** What is there and is not read yet; it is gone then. */
  unread(): AgentEvent[] {
    const events = this.#buffer.list();
    this.#buffer.clear();
    return events;
  }

  next(): Promise<Result> {
    if (this.#isOver) return Promise.resolve(done);
    this.#hasBegun = true;
    this.#isGivenUp = false;
    const event = this.#buffer.size === 0 ? undefined : this.#buffer.shift();
    if (event !== undefined) {
      this.#look();
      return Promise.resolve(this.#resultOf(event));
    }
    if (this.#isClosed) return Promise.resolve(this.#end);
    if (!this.#isHeld) holdFor(this, this.#options.source);
    this.#isHeld = true;
    // Not `withResolvers`, which an engine does not inline.
    return new Promise((resolve) => {
      if (this.#waiter === undefined) this.#waiter = resolve;
      else this.#waiting.push(resolve);
    });
  }

  return(): Promise<Result> {
    const hasLeft = !this.#isClosed;
    this.#buffer.clear();
    this.close();
    if (hasLeft) this.#options.onLeave();
    return Promise.resolve(done);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #look(): void {
    if (this.#catchingUp.length === 0 || this.isBehind()) return;
    for (const resolve of this.#catchingUp) resolve();
    this.#catchingUp = [];
  }

  #letGo(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    letGoFor(this);
  }

  #save(finish: FinishEvent): void {
    // The save begins when the chart is done with the step that says so.
    const save = Promise.resolve()
      .then(() => this.#options.saved())
      .catch(() => undefined);
    this.#saves.set(finish, save);
  }

  #resultOf(event: AgentEvent): Result | Promise<Result> {
    if (event.type === 'text-delta') return { done: false, value: event };
    const result: Result = { done: false, value: holdsData.has(event.type) ? copyJson(event) : event };
    if (event.type !== 'finish') return result;
    const save = this.#saves.get(event);
    if (save === undefined) return result;
    return save.then(() => {
      if (this.#options.isLast?.(event) === true) this.#isOver = true;
      return result;
    });
  }
}
