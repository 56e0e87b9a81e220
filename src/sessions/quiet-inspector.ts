import type { InspectionEvent } from 'xstate';
import { quietly } from '../messages/quietly.ts';
import type { Inspector } from './session.ts';

/** An inspector that may throw. */
export const quiet = (inspect: Inspector) => (event: InspectionEvent) => {
  // XState loses the transition where an inspector throws, and a broken watcher must not break what it watches.
  quietly(() => (typeof inspect === 'function' ? inspect(event) : inspect.next?.(event)));
};
