import type { JsonValue } from '../messages/json.ts';

/** By whom a piece of a reply is said. */
interface Said {
  /** The id of the call that an agent answers, which says this. Absent: the session's own agent does. */
  insideCall?: string;
}

/** What goes past the charts, straight from an effect to those who watch. */
export type DeltaEvent =
  | ({ type: 'text-delta'; text: string } & Said)
  | ({ type: 'reasoning-delta'; text: string } & Said)
  /** `index` tells the parallel calls of one reply apart. */
  | ({ type: 'tool-input-delta'; index: number; tool: string; text: string } & Said)
  | { type: 'tool-progress'; callId: string; tool: string; value: JsonValue };
