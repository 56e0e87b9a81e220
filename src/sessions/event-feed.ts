import type { Hold } from '../actors/host.ts';
import type { AgentEvent } from './agent-event.ts';
import { type EventReader, type FedReader, type FinishEvent, createEventReader } from './event-reader.ts';
import { createRecentEvents } from './recent-events.ts';
import type { Transition } from '../stores/store.ts';

export type { EventReader } from './event-reader.ts';

export interface ReadOptions {
  /** `turn`: first what the turn has come to so far. Default `now`. */
  from?: 'now' | 'turn' | undefined;
  onLeave?: (() => void) | undefined;
  /** Nothing is read after this one. */
  isLast?: ((finish: FinishEvent) => boolean) | undefined;
}

/** The events of one session for any number of readers. */
export interface EventFeed {
  publish(event: AgentEvent): void;
  /** Of the chart; told with what it says of the state that it has come to. */
  step(transition: Transition): void;
  /** All that the chart says of its last steps is said. */
  rest(): void;
  /** As `publish`; where nobody reads, whoever reads next gets it first. */
  tell(event: AgentEvent): void;
  hasReaders(): boolean;
  /** The readers that have fallen behind; undefined where none has. */
  behind(): Hold | undefined;
  read(options?: ReadOptions): EventReader;
  close(): void;
}

export interface FeedOptions {
  /** Whose events they are. */
  source: object;
  /** Resolves when what is being saved is saved, or is not to be. */
  saved(): Promise<unknown>;
  /** The turn so far as events; `reply` is what has been streamed of the reply under way. */
  soFar(reply: readonly AgentEvent[]): AgentEvent[];
}

/** What the chart says of a state that it has entered; everything else it says of the step there. */
const beginnings = new Set<AgentEvent['type']>(['step-start', 'tool-call', 'approval-request', 'finish']);

export const createEventFeed = ({ source, saved, soFar }: FeedOptions): EventFeed => {
  const readers = new Set<FedReader>();
  const recent = createRecentEvents();
  let steps: AgentEvent[] = [];
  const untold: AgentEvent[] = [];
  let isClosed = false;

  const push = (event: AgentEvent): void => {
    for (const reader of readers) reader.push(event);
  };
  const pushSteps = (): void => {
    if (steps.length === 0) return;
    for (const step of steps) push(step);
    steps = [];
  };
  // XState tells all steps that an event caused first and what the chart says of them afterwards. Here the steps stand between what
  // caused them and what begins with them.
  const publish = (event: AgentEvent): void => {
    recent.hear(event);
    if (beginnings.has(event.type)) pushSteps();
    push(event);
  };
  return {
    publish,
    step: (transition) => {
      if (readers.size > 0) steps.push({ type: 'transition', ...transition });
    },
    rest: pushSteps,
    tell: (event) => {
      if (readers.size > 0) publish(event);
      else untold.push(event);
    },
    hasReaders: () => readers.size > 0,
    behind: () => {
      // Asked before each piece of a reply.
      let slow: FedReader[] | undefined;
      for (const reader of readers) if (reader.isBehind()) (slow ??= []).push(reader);
      if (slow === undefined) return undefined;
      const waitedFor = slow;
      return {
        over: Promise.all(waitedFor.map((reader) => reader.caughtUp())),
        giveUp: () => {
          for (const reader of waitedFor) reader.giveUp();
        },
      };
    },
    read: ({ from = 'now', onLeave = () => undefined, isLast } = {}) => {
      let hasEnded = false;
      const reader = createEventReader({
        source,
        saved,
        onLeave,
        isLast,
        onEnd: () => {
          hasEnded = true;
          readers.delete(reader);
        },
      });
      if (from === 'now') {
        for (const event of untold.splice(0)) reader.push(event);
        readers.add(reader);
      }
      // Not in the midst of a step of the chart, of which one part would be told twice and another not at all.
      else {
        queueMicrotask(() => {
          if (hasEnded) return;
          readers.add(reader);
          for (const event of soFar(recent.list())) reader.push(event);
          if (isClosed) reader.close();
        });
      }
      return reader;
    },
    close: () => {
      isClosed = true;
      pushSteps();
      for (const reader of readers) reader.close();
    },
  };
};
