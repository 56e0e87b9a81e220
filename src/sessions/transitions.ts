import type { SnapshotFrom } from 'xstate';
import { ownHostOf } from '../actors/host.ts';
import type { AgentMachine } from '../machines/agent.ts';
import { statePath } from '../machines/state-path.ts';
import type { Transition } from '../stores/store.ts';

type Hear = (transition: Transition) => void;
type Step = SnapshotFrom<AgentMachine>;

const tell = (before: Step, steps: readonly Step[], event: string, hear: Hear): void => {
  let last = before.value;
  for (const { value } of steps) {
    // Most steps leave the state as it is, and then it is the same object.
    if (value === last) continue;
    const [from, to] = [statePath(last), statePath(value)];
    if (to !== from) hear({ from, to, event });
    last = value;
  }
};

/**
 * The same machine, of which the host of an actor now hears every step of its chart, also those that pass by within one event; told when
 * the event is handled. XState's inspection would tell the same, but makes an event of everything that
 * any actor of a session does; a machine gives its microsteps for nothing.
 */
export const audible = (machine: AgentMachine): AgentMachine => {
  const transition: AgentMachine['transition'] = (snapshot, event, scope) => {
    const steps = machine.microstep(snapshot, event, scope);
    const hear = ownHostOf(scope.self)?.step;
    if (hear !== undefined) tell(snapshot, steps, event.type, hear);
    return steps.at(-1) ?? snapshot;
  };
  return Object.defineProperty(machine, 'transition', { value: transition });
};
