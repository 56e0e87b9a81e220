import type { Clock } from './alarm.ts';
import type { Hold } from './host.ts';

/** ms for which readers who do not read may hold a model up; then it goes on, and what they have not read is joined. */
const patience = 5_000;

/** Resolves when all who are behind have caught up, have been waited for long enough, or the signal aborts. */
export const holdBack = (hold: Hold, clock: Clock, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = clock.setTimeout(hold.giveUp, patience);
    const goOn = (): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', goOn);
      resolve();
    };
    signal.addEventListener('abort', goOn, { once: true });
    void hold.over.then(goOn);
  });
};
