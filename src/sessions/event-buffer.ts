import type { AgentEvent } from './agent-event.ts';
import { GrowingText } from './growing-text.ts';

type Delta = Extract<AgentEvent, { text: string }>;

interface Entry {
  event: AgentEvent;
  grown: GrowingText | undefined;
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

/** Arguments of parallel calls take turns, and so do agents inside calls: the order among them says nothing. */
const placeOf = (entries: readonly Entry[], delta: Delta): Entry | undefined => {
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

/** Events in order, of which deltas can be joined. */
export class EventBuffer {
  #entries: Entry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  add(event: AgentEvent): void {
    this.#entries.push({ event, grown: undefined });
  }

  /**
   * Adds what takes no room of its own where that can be: a delta goes into the last one of its kind, and what a call shows of its
   * progress takes the place of what it showed before. Nothing else is left out.
   */
  join(event: AgentEvent): void {
    if (isDelta(event)) {
      this.#joinDelta(event);
      return;
    }
    if (event.type === 'tool-progress') {
      const before = this.#entries.findIndex(
        (entry) => entry.event.type === event.type && entry.event.callId === event.callId,
      );
      if (before !== -1) this.#entries.splice(before, 1);
    }
    this.add(event);
  }

  #joinDelta(event: Delta): void {
    const last = this.#entries[this.#entries.length - 1];
    const place = last !== undefined && isSameKind(last.event, event) ? last : placeOf(this.#entries, event);
    if (place === undefined || !isDelta(place.event)) {
      this.#entries.push({ event, grown: new GrowingText(event.text) });
      return;
    }
    place.grown ??= new GrowingText(place.event.text);
    place.grown.add(event.text);
  }

  shift(): AgentEvent | undefined {
    const entry = this.#entries.shift();
    return entry === undefined ? undefined : read(entry);
  }

  /** All of them, which stay. */
  list(): AgentEvent[] {
    return this.#entries.map(read);
  }

  clear(): void {
    this.#entries = [];
  }
}
