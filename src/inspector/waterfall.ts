import { type CallView, callOf } from './actor-tree.ts';
import type { ActorView, SessionView } from './view-state.ts';

export type BarKind = 'checks' | 'waits' | 'queued' | 'runs' | 'retries';

export interface Bar {
  kind: BarKind;
  from: number;
  to: number;
}

export interface WaterfallRow {
  call: CallView;
  bars: Bar[];
}

export interface Waterfall {
  from: number;
  to: number;
  rows: WaterfallRow[];
}

const kinds: Record<string, BarKind> = {
  validating: 'checks',
  'awaiting-decision': 'waits',
  'awaiting-result': 'waits',
  queued: 'queued',
  running: 'runs',
  delegating: 'runs',
  'backing-off': 'retries',
};

/** Who of the round's calls ran when, who waited and for whom, who tried again. `now` ends what is still open. */
export const waterfallOf = (session: SessionView, agent: ActorView, now: number): Waterfall | undefined => {
  const rows = Object.values(session.actors)
    .filter(({ parent }) => parent === agent.key)
    .flatMap((actor): WaterfallRow[] => {
      const call = callOf(actor);
      return call === undefined ? [] : [{ call, bars: barsOf(actor, call.endedAt ?? now) }];
    })
    .toSorted((a, b) => a.call.index - b.call.index);
  if (rows.length === 0) return undefined;
  return {
    from: Math.min(...rows.map(({ call }) => call.startedAt)),
    to: Math.max(...rows.map(({ call }) => call.endedAt ?? now)),
    rows,
  };
};

const barsOf = ({ stays }: ActorView, end: number): Bar[] =>
  stays.flatMap(({ state, at }, index) => {
    const kind = kinds[state];
    return kind === undefined ? [] : [{ kind, from: at, to: stays[index + 1]?.at ?? Math.max(at, end) }];
  });
