import type { AnyActorRef, InspectionEvent, StateValue, Subscription } from 'xstate';
import { statePath } from '../machines/state-path.ts';
import type { AgentEvent } from './agent-event.ts';

const valueOf = (snapshot: unknown): StateValue => (snapshot as { value: StateValue }).value;

export interface EventReader extends AsyncIterableIterator<AgentEvent> {
  /** No more events: what is there is still read, then the iteration ends. */
  close(): void;
}

/** The events of one session for any number of readers, each from the moment it began to read. */
export interface EventFeed {
  publish(event: AgentEvent): void;
  /** As `publish`; where nobody reads, whoever reads next gets it first. */
  tell(event: AgentEvent): void;
  hasReaders(): boolean;
  read(onLeave?: () => void): EventReader;
  close(): void;
}

const createReader = (onEnd: () => void, onLeave: () => void): EventReader & { push(event: AgentEvent): void } => {
  const events: AgentEvent[] = [];
  const waiting: ((result: IteratorResult<AgentEvent, undefined>) => void)[] = [];
  let isClosed = false;
  const done: IteratorResult<AgentEvent, undefined> = { done: true, value: undefined };
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    onEnd();
    for (const resolve of waiting.splice(0)) resolve(done);
  };
  return {
    push: (event) => {
      if (isClosed) return;
      const next = waiting.shift();
      if (next === undefined) events.push(event);
      else next({ done: false, value: event });
    },
    close,
    next: () => {
      const event = events.shift();
      if (event !== undefined) return Promise.resolve({ done: false, value: event });
      if (isClosed) return Promise.resolve(done);
      return new Promise((resolve) => waiting.push(resolve));
    },
    return: () => {
      const hasLeft = !isClosed;
      events.length = 0;
      close();
      if (hasLeft) onLeave();
      return Promise.resolve(done);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};

/** What the chart says of a state that it has entered; everything else it says of the step there. */
const beginnings = new Set<AgentEvent['type']>(['step-start', 'tool-call', 'approval-request', 'finish']);

/** Transitions are watched only while somebody reads: inspection costs every actor of the session. */
export const createEventFeed = (actor: AnyActorRef): EventFeed => {
  const readers = new Set<ReturnType<typeof createReader>>();
  let watching: Subscription | undefined;
  let before = '';

  let steps: AgentEvent[] = [];
  const untold: AgentEvent[] = [];

  const push = (event: AgentEvent): void => {
    for (const reader of readers) reader.push(event);
  };
  const pushSteps = (): void => {
    for (const step of steps) push(step);
    steps = [];
  };
  // XState tells all steps that an event caused first and what the chart says of them afterwards. Here the steps stand between what
  // caused them and what begins with them.
  const publish = (event: AgentEvent): void => {
    if (beginnings.has(event.type)) pushSteps();
    push(event);
  };
  const watch = (event: InspectionEvent): void => {
    // An inspector that throws would lose the transition.
    try {
      if (event.actorRef !== actor) return;
      if (event.type === '@xstate.snapshot') pushSteps();
      if (event.type !== '@xstate.microstep') return;
      const to = statePath(valueOf(event.snapshot));
      if (to !== before) steps.push({ type: 'transition', from: before, to, event: event.event.type });
      before = to;
    } catch {
      // Nobody is told: a picture is worth less than the run.
    }
  };
  return {
    publish,
    tell: (event) => {
      if (readers.size > 0) publish(event);
      else untold.push(event);
    },
    hasReaders: () => readers.size > 0,
    read: (onLeave = () => undefined) => {
      const reader = createReader(() => {
        readers.delete(reader);
        if (readers.size > 0) return;
        watching?.unsubscribe();
        watching = undefined;
      }, onLeave);
      readers.add(reader);
      for (const event of untold.splice(0)) reader.push(event);
      if (watching === undefined) {
        before = statePath(valueOf(actor.getSnapshot()));
        watching = actor.system.inspect(watch);
      }
      return reader;
    },
    close: () => {
      pushSteps();
      for (const reader of readers) reader.close();
    },
  };
};
