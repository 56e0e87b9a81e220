import type { JsonValue } from '../messages/json.ts';

/** What goes past the charts, straight from an effect to those who watch. */
export type DeltaEvent =
  | { type: 'text-delta'; text: string }
  | { type: 'reasoning-delta'; text: string }
  /** `index` tells the parallel calls of one reply apart. */
  | { type: 'tool-input-delta'; index: number; tool: string; text: string }
  | { type: 'tool-progress'; callId: string; tool: string; value: JsonValue };
