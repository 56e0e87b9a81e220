import type { InspectionEvent } from 'xstate';
import type { Inspector } from './session.ts';

/** An inspector that may throw. */
export const quiet = (inspect: Inspector) => (event: InspectionEvent) => {
  // XState loses the transition where an inspector throws.
  try {
    if (typeof inspect === 'function') inspect(event);
    else inspect.next?.(event);
  } catch {
    // A broken watcher must not break what it watches.
  }
};
