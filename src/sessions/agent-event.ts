import type { DeltaEvent } from '../actors/delta-event.ts';
import type { ChartEvent } from '../machines/chart-event.ts';
import type { Message } from '../messages/message.ts';

/** One step of the agent's chart: the state before and after (`thinking.asking`), and the event that caused it. */
export interface TransitionEvent {
  type: 'transition';
  from: string;
  to: string;
  event: string;
}

/** The first event of a reader that joined a turn under way. */
export interface JoinedEvent {
  type: 'joined';
  /** 0 before the first. */
  turn: number;
  /** What the turn has added to the history so far; a round whose calls are not all settled is not in it. */
  messages: Message[];
  /** So many events follow that tell the turn so far again; those after them are live. */
  toldAgain: number;
}

/** Everything that a session's stream tells, in the AI SDK's vocabulary. */
export type AgentEvent = ChartEvent | DeltaEvent | TransitionEvent | JoinedEvent;
