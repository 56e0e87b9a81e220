import type { Hello, ProtocolEvent, Told } from './protocol.ts';
import { protocolVersion } from './protocol.ts';
import { encodeEvent } from './encode.ts';
import { sizeOf } from './size-of.ts';
import { createFold } from './view-fold.ts';
import { type ViewState, emptyView } from './view-state.ts';

export interface EventLogOptions {
  /** Events that are kept one by one; older ones are folded into a base. Default 100,000. */
  maxEvents?: number;
  /** What they may hold, estimated, in bytes. Default 64 MB. */
  maxBytes?: number;
  /** ms over which deltas of one kind become one event. Default 50. */
  coalesce?: number;
  now?: () => number;
}

export interface EventLog {
  /** Names this log. */
  readonly run: string;
  readonly hello: Hello;
  /** The number of the newest event; 0 before the first. */
  readonly last: number;
  /** The number of the newest event that is folded away. */
  readonly folded: number;
  append(told: Told): void;
  /** Puts events of an earlier run first, and what was `before` them. Only for an empty log; they get numbers of this one. */
  restore(events: Iterable<ProtocolEvent>, before?: ViewState): void;
  /** Everything up to `folded`, as a viewer would have it. */
  base(): ViewState;
  /** Up to `limit` events after a number, in order. */
  after(seq: number, limit: number): readonly ProtocolEvent[];
  /** The same, each as one line of JSON. */
  lines(seq: number, limit: number): readonly string[];
  /** Told soon after something was appended, never during it. */
  subscribe(listener: () => void): () => void;
}

type Delta = Extract<Told, { type: 'delta' }>;

const isSameDelta = (a: Delta, b: Delta): boolean =>
  a.kind === b.kind && a.session === b.session && a.callId === b.callId && a.index === b.index && a.kind !== 'progress';

/**
 * The newest events in memory, and a base that holds what the older ones came to: whoever comes late has the same view as who was
 * there from the beginning. Its size is bounded.
 */
export const createEventLog = ({
  maxEvents = 100_000,
  maxBytes = 64_000_000,
  coalesce = 50,
  now = Date.now,
}: EventLogOptions = {}): EventLog => {
  const run = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36))
    .join('')
    .slice(0, 8);
  const hello: Hello = { type: 'hello', version: protocolVersion, run, at: now() };
  const listeners = new Set<() => void>();
  let events: ProtocolEvent[] = [];
  let sizes: number[] = [];
  /** Where the kept events begin in `events`. */
  let start = 0;
  let bytes = 0;
  let last = 0;
  let base = createFold(emptyView);
  let isAnnounced = false;
  /** Deltas of one kind that are still growing together. */
  let open: { told: Delta; at: number } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const announce = (): void => {
    if (isAnnounced || listeners.size === 0) return;
    isAnnounced = true;
    queueMicrotask(() => {
      isAnnounced = false;
      for (const listener of listeners) listener();
    });
  };
  const fold = (): void => {
    while (events.length - start > maxEvents || (bytes > maxBytes && events.length - start > 1)) {
      const oldest = events[start];
      if (oldest === undefined) break;
      base.add(oldest);
      bytes -= sizes[start] ?? 0;
      start += 1;
    }
    if (start > 1024 && start * 2 > events.length) {
      events = events.slice(start);
      sizes = sizes.slice(start);
      start = 0;
    }
  };

  const after = (seq: number, limit: number): readonly ProtocolEvent[] => {
    const from = start + Math.max(0, seq - (last - (events.length - start)));
    return events.slice(from, from + limit);
  };
  const push = (told: Told, at: number): void => {
    last += 1;
    const event: ProtocolEvent = { seq: last, at, ...told };
    const size = sizeOf(told);
    events.push(event);
    sizes.push(size);
    bytes += size;
    fold();
    announce();
  };
  const closeDelta = (): void => {
    if (open === undefined) return;
    const { told, at } = open;
    open = undefined;
    clearTimeout(timer);
    push(told, at);
  };
  const openDelta = (told: Delta): void => {
    if (open !== undefined && isSameDelta(open.told, told)) {
      open.told = { ...open.told, text: open.told.text + told.text };
      return;
    }
    closeDelta();
    open = { told, at: now() };
    // Without a reader it waits for the event that follows.
    if (listeners.size > 0) startTimer();
  };
  const startTimer = (): void => {
    timer = setTimeout(closeDelta, coalesce);
    (timer as { unref?: () => void }).unref?.();
  };

  return {
    run,
    hello,
    get last() {
      return last;
    },
    get folded() {
      return last - (events.length - start);
    },
    append: (told) => {
      if (told.type === 'delta') return openDelta(told);
      closeDelta();
      push(told, now());
    },
    restore: (earlier, before) => {
      if (before !== undefined) base = createFold({ ...before, seq: 0 });
      for (const { seq: _seq, at, ...told } of earlier) push(told, at);
    },
    base: () => base.view,
    after,
    lines: (seq, limit) => after(seq, limit).map(encodeEvent),
    subscribe: (listener) => {
      listeners.add(listener);
      if (open !== undefined) startTimer();
      return () => listeners.delete(listener);
    },
  };
};
