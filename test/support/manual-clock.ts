import type { Clock } from '../../src/actors/alarm.ts';

/** Set for every stream by default, and rung by none of these tests: it would hide the waits that they look at. */
const defaultIdleTimeout = 120_000;

/** A clock that stands still until it is told to go on. */
export interface ManualClock extends Clock {
  /** Moves the time on and rings what is due, in order of time. */
  advance(ms: number): void;
  /** Resolves as soon as a timer is set, with the ms until the earliest rings. */
  armed(): Promise<number>;
  /** Timers that have not rung. */
  readonly timers: number;
}

export const manualClock = (start = 1_700_000_000_000): ManualClock => {
  let time = start;
  let next = 0;
  const timers = new Map<number, { at: number; callback: () => void }>();
  const watchers: (() => void)[] = [];
  const earliest = (): [number, { at: number; callback: () => void }] | undefined =>
    [...timers].toSorted(([a, { at: left }], [b, { at: right }]) => left - right || a - b)[0];
  return {
    now: () => time,
    setTimeout: (callback, ms) => {
      next += 1;
      if (ms === defaultIdleTimeout) return undefined;
      timers.set(next, { at: time + ms, callback });
      for (const watcher of watchers.splice(0)) watcher();
      return next;
    },
    clearTimeout: (handle) => {
      if (typeof handle === 'number') timers.delete(handle);
    },
    advance: (ms) => {
      const end = time + ms;
      for (let first = earliest(); first !== undefined && first[1].at <= end; first = earliest()) {
        const [id, { at, callback }] = first;
        timers.delete(id);
        time = Math.max(time, at);
        callback();
      }
      time = end;
    },
    armed: async () => {
      while (timers.size === 0) await new Promise<void>((resolve) => watchers.push(resolve));
      return (earliest()?.[1].at ?? time) - time;
    },
    get timers() {
      return timers.size;
    },
  };
};
