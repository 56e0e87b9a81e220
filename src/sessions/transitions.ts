import type { AnyActorRef, InspectionEvent, StateValue } from 'xstate';
import { statePath } from '../machines/state-path.ts';
import type { Transition } from '../stores/store.ts';

const valueOf = (snapshot: unknown): StateValue => (snapshot as { value: StateValue }).value;

/** Tells every step of an agent's chart, also those that pass by within one event. */
export const watchTransitions = (actor: AnyActorRef, note: (transition: Transition) => void): void => {
  let before = statePath(valueOf(actor.getSnapshot()));
  actor.system.inspect((event: InspectionEvent) => {
    // An inspector that throws would lose the transition.
    try {
      if (event.type !== '@xstate.microstep' || event.actorRef !== actor) return;
      const to = statePath(valueOf(event.snapshot));
      if (to === before) return;
      note({ from: before, to, event: event.event.type });
      before = to;
    } catch {
      // Nobody is told: a line of history is worth less than the run.
    }
  });
};
