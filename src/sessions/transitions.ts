import type { AnyActorRef, SnapshotFrom } from 'xstate';
import type { AgentMachine } from '../machines/agent.ts';
import { statePath } from '../machines/state-path.ts';
import type { Transition } from '../stores/store.ts';

type Hear = (transition: Transition) => void;
type Step = SnapshotFrom<AgentMachine>;

const listeners = new WeakMap<AnyActorRef, Hear>();

/** Hears every step of an agent's chart, also those that pass by within one event; told when the event is handled. */
export const hearTransitions = (actor: AnyActorRef, hear: Hear): void => {
  listeners.set(actor, hear);
};

const tell = (before: Step, steps: readonly Step[], event: string, hear: Hear): void => {
  let from = statePath(before.value);
  for (const { value } of steps) {
    const to = statePath(value);
    if (to !== from) hear({ from, to, event });
    from = to;
  }
};

/**
 * The machine in all but that its actors can be heard. XState's inspection would tell the same, but makes an event of everything that
 * any actor of a session does; a machine gives its microsteps for nothing.
 */
export const audible = (machine: AgentMachine): AgentMachine => {
  const transition: AgentMachine['transition'] = (snapshot, event, scope) => {
    const steps = machine.microstep(snapshot, event, scope);
    const hear = listeners.get(scope.self);
    if (hear !== undefined) tell(snapshot, steps, event.type, hear);
    return steps.at(-1) ?? snapshot;
  };
  return Object.create(machine, { transition: { value: transition } }) as AgentMachine;
};
