import type { AgentEvent } from './agent-event.ts';
import { type GrowingText, createGrowingText } from './growing-text.ts';

type Delta = Extract<AgentEvent, { text: string }>;

/** Events in order, of which deltas can be joined. */
export interface EventBuffer {
  readonly size: number;
  add(event: AgentEvent): void;
  /**
   * Adds what takes no room of its own where that can be: a delta goes into the last one of its kind, and what a call shows of its
   * progress takes the place of what it showed before. Nothing else is left out.
   */
  join(event: AgentEvent): void;
  shift(): AgentEvent | undefined;
  /** All of them, which stay. */
  list(): AgentEvent[];
  clear(): void;
}

interface Entry {
  event: AgentEvent;
  grown?: GrowingText;
}

const isDelta = (event: AgentEvent): event is Delta =>
  event.type === 'text-delta' || event.type === 'reasoning-delta' || event.type === 'tool-input-delta';

const isSameKind = (one: AgentEvent, other: Delta): boolean => {
  if (one.type !== other.type || one.insideCall !== other.insideCall) return false;
  if (one.type !== 'tool-input-delta' || other.type !== 'tool-input-delta') return true;
  return one.index === other.index && one.tool === other.tool;
};

const read = ({ event, grown }: Entry): AgentEvent =>
  grown === undefined || !isDelta(event) ? event : { ...event, text: grown.text() };

export const createEventBuffer = (): EventBuffer => {
  let entries: Entry[] = [];

  /** Arguments of parallel calls take turns, and so do agents inside calls: the order among them says nothing. */
  const placeOf = (delta: Delta): Entry | undefined => {
    for (let index = entries.length - 1; index >= 0; index -= 1) {
      const entry = entries[index];
      if (entry === undefined || isSameKind(entry.event, delta)) return entry;
      const { event } = entry;
      const areInputs = event.type === 'tool-input-delta' && delta.type === 'tool-input-delta';
      const isOfAnother = isDelta(event) && event.insideCall !== delta.insideCall;
      if (!areInputs && !isOfAnother) return undefined;
    }
    return undefined;
  };
  const add = (event: AgentEvent): void => {
    entries.push({ event });
  };
  return {
    get size() {
      return entries.length;
    },
    add,
    join: (event) => {
      if (event.type === 'tool-progress') {
        const before = entries.findIndex(
          (entry) => entry.event.type === event.type && entry.event.callId === event.callId,
        );
        if (before !== -1) entries.splice(before, 1);
      }
      const place = isDelta(event) ? placeOf(event) : undefined;
      if (place === undefined || !isDelta(event) || !isDelta(place.event)) add(event);
      else if (place.grown === undefined) {
        place.grown = createGrowingText(place.event.text);
        place.grown.add(event.text);
      } else place.grown.add(event.text);
    },
    shift: () => {
      const entry = entries.shift();
      return entry === undefined ? undefined : read(entry);
    },
    list: () => entries.map(read),
    clear: () => {
      entries = [];
    },
  };
};
