import type { Clock } from './alarm.ts';
import type { Speaker } from './speaker.ts';

/** ms for which readers who do not read may hold a model up; then it goes on, and what they have not read is joined. */
const patience = 5_000;

/** Undefined where nobody is behind. Otherwise resolves when all have caught up, have waited long enough, or the signal aborts. */
export const holdBack = (
  host: Pick<Speaker, 'behind'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> | undefined => {
  const hold = host.behind();
  if (hold === undefined || signal.aborted) return undefined;
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
