import { encodable } from './encode.ts';
import type { ProtocolEvent } from './protocol.ts';

/**
 * A run of events for the page: what many share (a state that is entered ten thousand times) is there once. An event is the index
 * of its head, the ms since the event before, and what it alone has.
 */
export interface PackedEvents {
  /** The number that the first one follows. */
  after: number;
  /** ms since 1970 that the first one's ms count from. */
  at: number;
  heads: Record<string, unknown>[];
  events: [head: number, ms: number, rest?: Record<string, unknown>][];
}

const shared = new Set(['type', 'session', 'actor', 'event', 'states', 'edges', 'status', 'kind', 'what']);

/** As JSON, because that is all it is for; no more events than make it about so many characters long, but one. */
export const packEvents = (after: number, events: readonly ProtocolEvent[], maxLength = Infinity): string => {
  const heads = new Map<string, number>();
  const packed: string[] = [];
  const begin = events[0]?.at ?? 0;
  let before = begin;
  let length = 0;
  for (const event of events) {
    const plain = encodable(event);
    const head: Record<string, unknown> = {};
    let rest: Record<string, unknown> | undefined;
    for (const key in plain) {
      if (key === 'seq' || key === 'at') continue;
      if (shared.has(key)) head[key] = plain[key];
      else (rest ??= {})[key] = plain[key];
    }
    const text = JSON.stringify(head);
    let index = heads.get(text);
    if (index === undefined) heads.set(text, (index = heads.size));
    const ms = event.at - before;
    const line = rest === undefined ? `[${index},${ms}]` : `[${index},${ms},${JSON.stringify(rest)}]`;
    packed.push(line);
    length += line.length;
    if (length > maxLength) break;
    before = event.at;
  }
  return `{"after":${after},"at":${begin},"heads":[${[...heads.keys()].join(',')}],"events":[${packed.join(',')}]}`;
};

export const unpackEvents = ({ after, at, heads, events }: PackedEvents): ProtocolEvent[] => {
  let time = at;
  return events.map(([head, ms, rest], index) => {
    time += ms;
    return { ...heads[head], ...rest, seq: after + index + 1, at: time } as ProtocolEvent;
  });
};
