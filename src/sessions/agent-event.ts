import type { DeltaEvent } from '../actors/delta-event.ts';
import type { ChartEvent } from '../machines/chart-event.ts';

/** One step of the agent's chart: the state before and after (`thinking.asking`), and the event that caused it. */
export interface TransitionEvent {
  type: 'transition';
  from: string;
  to: string;
  event: string;
}

/** Everything that a session's stream tells, in the AI SDK's vocabulary. */
export type AgentEvent = ChartEvent | DeltaEvent | TransitionEvent;
