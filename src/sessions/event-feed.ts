import type { Audience, Hold } from '../actors/host.ts';
import type { AgentEvent } from './agent-event.ts';
import { type EventReader, FedReader, type FinishEvent, readAhead } from './event-reader.ts';
import { RecentEvents } from './recent-events.ts';
import type { Transition } from '../stores/store.ts';

export type { EventReader } from './event-reader.ts';

export interface ReadOptions {
  /** `turn`: first what the turn has come to so far. Default `now`. */
  from?: 'now' | 'turn' | undefined;
  onLeave?: (() => void) | undefined;
  /** Nothing is read after this one. */
  isLast?: ((finish: FinishEvent) => boolean) | undefined;
}

export interface FeedOptions {
  /** Whose events they are. */
  source: object;
  /** Resolves when what is being saved is saved, or is not to be. */
  saved(): Promise<unknown>;
  /** The turn so far as events; `reply` is what has been streamed of the reply under way. */
  soFar(reply: readonly AgentEvent[]): AgentEvent[] | Promise<AgentEvent[]>;
  /** The last reader has left. */
  left(): void;
}

/** What the chart says of a state that it has entered; everything else it says of the step there. */
const beginnings = new Set<AgentEvent['type']>(['step-start', 'tool-call', 'approval-request', 'finish']);

const holdOf = (slow: readonly FedReader[]): Hold => ({
  over: Promise.all(slow.map((reader) => reader.caughtUp())),
  giveUp: () => {
    for (const reader of slow) reader.giveUp();
  },
});

/** The events of one session for any number of readers. */
export class EventFeed implements Audience {
  readonly #options: FeedOptions;
  // A list that is made anew when somebody comes or goes: it is walked for each piece of a reply.
  #readers: readonly FedReader[] = [];
  readonly #recent = new RecentEvents();
  #steps: AgentEvent[] = [];
  readonly #untold: AgentEvent[] = [];
  #isClosed = false;
  /** A reader has been; until then nobody is behind, and nobody is asked. */
  #hasBeenFull = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  // XState tells all steps that an event caused first and what the chart says of them afterwards. Here the steps stand between what
  // caused them and what begins with them.
  publish(event: AgentEvent): void {
    this.#recent.hear(event);
    if (this.#steps.length > 0 && beginnings.has(event.type)) this.rest();
    this.#push(event);
  }

  /** Of the chart; told with what it says of the state that it has come to. */
  step(transition: Transition): void {
    if (this.hasReaders()) this.#steps.push({ type: 'transition', ...transition });
  }

  /** All that the chart says of its last steps is said. */
  rest(): void {
    if (this.#steps.length === 0) return;
    for (const step of this.#steps) this.#push(step);
    this.#steps = [];
  }

  /** As `publish`; where nobody reads, whoever reads next gets it first. */
  tell(event: AgentEvent): void {
    if (this.hasReaders()) this.publish(event);
    else this.#untold.push(event);
  }

  hasReaders(): boolean {
    return this.#readers.length > 0;
  }

  /** Nobody reads, and there is nothing that a next reader would get first. */
  isSilent(): boolean {
    return this.#readers.length + this.#steps.length + this.#untold.length + this.#recent.list().length === 0;
  }

  behind(): Hold | undefined {
    if (!this.#hasBeenFull) return undefined;
    const slow = this.#readers.filter((each) => each.isBehind());
    return slow.length === 0 ? undefined : holdOf(slow);
  }

  read({ from = 'now', onLeave = () => undefined, isLast }: ReadOptions = {}): EventReader {
    const { source, saved, soFar } = this.#options;
    let hasEnded = false;
    const reader = new FedReader({
      source,
      saved,
      onLeave,
      isLast,
      onEnd: (ended) => {
        hasEnded = true;
        this.#readers = this.#readers.filter((each) => each !== ended);
        if (this.#readers.length === 0) this.#options.left();
      },
    });
    if (from === 'now') {
      for (const event of this.#untold.splice(0)) this.#give(reader, event);
      this.#readers = [...this.#readers, reader];
    }
    // Not in the midst of a step of the chart, of which one part would be told twice and another not at all.
    else {
      queueMicrotask(() => {
        if (hasEnded) return;
        const told = soFar(this.#recent.list());
        if (told instanceof Promise) this.#joinLater(reader, told, () => hasEnded);
        else this.#join(reader, told);
      });
    }
    return reader;
  }

  close(): void {
    this.#isClosed = true;
    this.rest();
    for (const reader of this.#readers) reader.close();
  }

  #join(reader: FedReader, told: readonly AgentEvent[], since?: FedReader): void {
    this.#readers = [...this.#readers, reader];
    for (const event of told) this.#give(reader, event);
    for (const event of since?.unread() ?? []) this.#give(reader, event);
    if (this.#isClosed) reader.close();
  }

  /** What comes until then is kept for him by a reader in his place. */
  #joinLater(reader: FedReader, telling: Promise<AgentEvent[]>, hasLeft: () => boolean): void {
    const { source, saved, left } = this.#options;
    const nothing = (): void => undefined;
    const place = new FedReader({ source, saved, onEnd: nothing, onLeave: nothing });
    this.#readers = [...this.#readers, place];
    const leave = (): void => {
      this.#readers = this.#readers.filter((each) => each !== place);
    };
    telling.then(
      (told) => {
        leave();
        if (!hasLeft()) this.#join(reader, told, place);
        else if (!this.hasReaders()) left();
      },
      (error: unknown) => {
        leave();
        if (!hasLeft()) reader.fail(error);
        else if (!this.hasReaders()) left();
      },
    );
  }

  #push(event: AgentEvent): void {
    for (let index = 0; index < this.#readers.length; index += 1) {
      const reader = this.#readers[index];
      if (reader !== undefined) this.#give(reader, event);
    }
  }

  #give(reader: FedReader, event: AgentEvent): void {
    if (reader.push(event) >= readAhead) this.#hasBeenFull = true;
  }
}
