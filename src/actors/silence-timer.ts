import type { Clock } from './alarm.ts';

/** Rings when nothing has been heard for a while. */
export interface SilenceTimer {
  /** It listens, from now on. */
  begin(): void;
  heard(): void;
  end(): void;
}

/** Pieces of a reply that come in the same millisecond set one timer of the platform. */
export const createSilenceTimer = (clock: Clock, ms: number, ring: () => void): SilenceTimer => {
  let last: number | undefined;
  let handle: unknown;
  const end = (): void => {
    clock.clearTimeout(handle);
    last = undefined;
  };
  const begin = (): void => {
    end();
    last = clock.now();
    handle = clock.setTimeout(ring, ms);
  };
  return {
    begin,
    heard: () => {
      if (clock.now() !== last) begin();
    },
    end,
  };
};
