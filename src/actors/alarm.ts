import { type EffectLogic, fromEffect } from './effect.ts';

/** The one source of time of an agent. The default is the platform's; tests bring their own. */
export interface Clock {
  /** ms since 1970. */
  now(): number;
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}

// Looked up at each call, so that fake timers that a test installs later are honoured.
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (handle) => clearTimeout(handle as Parameters<typeof clearTimeout>[0]),
};

// A longer delay overflows the platform's 32-bit timers and fires at once.
const longestStep = 2 ** 31 - 1;

/** `at` in ms since 1970; null never rings. An `idle` alarm does not keep the process alive: nothing but people is waited for. */
export interface AlarmInput {
  at: number | null;
  idle?: boolean;
}
export interface AlarmOutput {
  at: number | null;
}
export type AlarmLogic = EffectLogic<AlarmOutput, AlarmInput>;

/** Node's timers hold the process unless they are told not to; other platforms have numbers. */
const release = (handle: unknown): void => {
  if (typeof handle === 'object' && handle !== null && 'unref' in handle) (handle as { unref(): void }).unref();
};

/** Waits for an absolute time, so that a restore goes on waiting for what is left; any delay, also of more than 24.8 days. */
export const createAlarmLogic = (clock: Clock): AlarmLogic =>
  fromEffect<AlarmOutput, AlarmInput>(
    ({ input: { at, idle }, signal }) =>
      new Promise((resolve) => {
        if (at === null) return;
        let handle: unknown;
        const wait = (): void => {
          const left = at - clock.now();
          if (left <= 0) resolve({ at });
          else {
            handle = clock.setTimeout(wait, Math.min(left, longestStep));
            if (idle === true) release(handle);
          }
        };
        signal.addEventListener('abort', () => clock.clearTimeout(handle), { once: true });
        wait();
      }),
    { isIdle: ({ at }) => at === null },
  );
