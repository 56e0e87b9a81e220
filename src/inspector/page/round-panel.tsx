/** @jsxImportSource preact */
import { agentsOf } from '../actor-tree.ts';
import { visible } from '../escape-control.ts';
import { type BarKind, type WaterfallRow, waterfallOf } from '../waterfall.ts';
import { useNow, useStore } from './use-store.ts';
import { duration, toneOf } from './words.ts';

const kinds: Record<BarKind, string> = {
  checks: 'checked',
  waits: 'waited for a person',
  queued: 'waited for its turn',
  runs: 'ran',
  retries: 'waited to try again',
};

const summary = ({ call, bars }: WaterfallRow): string =>
  `${visible(call.tool)}: ${bars.map(({ kind, from, to }) => `${kinds[kind]} ${duration(to - from)}`).join(', ')}, ${call.status ?? call.phase}`;

const ticks = [0, 0.25, 0.5, 0.75, 1];

/** The calls of the round side by side in time. */
export const RoundPanel = () => {
  const store = useStore();
  const { session } = store;
  const agents = session === undefined ? [] : agentsOf(session);
  const agent = agents.find(({ key }) => key === store.actor) ?? agents[0];
  const isOpen =
    session !== undefined &&
    agent !== undefined &&
    Object.values(session.actors).some(
      ({ parent, endedAt, chart }) => parent === agent.key && endedAt === undefined && chart !== null,
    );
  const now = useNow(isOpen && store.isRunning, 100);
  const fall =
    session === undefined || agent === undefined
      ? undefined
      : waterfallOf(session, agent, store.isRunning && isOpen ? now : store.view.at);
  if (fall === undefined) return <p class="empty">No tool was called in this round.</p>;
  const span = Math.max(1, fall.to - fall.from);
  const percent = (ms: number): string => `${(ms / span) * 100}%`;
  return (
    <div class="waterfall">
      <div class="axis">
        <span class="fall-name">
          {fall.rows.length} {fall.rows.length === 1 ? 'call' : 'calls'}
        </span>
        <span class="fall-track">
          {ticks.map((part) => (
            <i key={part} style={{ left: `${part * 100}%` }}>
              {duration(part * span)}
            </i>
          ))}
        </span>
        <span class="fall-end" />
      </div>
      <ol>
        {fall.rows.map((row) => (
          <li key={row.call.callId} title={summary(row)} aria-label={summary(row)}>
            <span class="fall-name">
              <span class={`dot ${toneOf(row.call.status, row.call.phase)}`} aria-hidden="true" />
              <span class="tool-name">{visible(row.call.tool)}</span>
              <span class="id">{row.call.index}</span>
            </span>
            <span class="fall-track">
              {row.bars.map(({ kind, from, to }) => (
                <i
                  key={`${kind}${from}`}
                  class={`bar ${kind}`}
                  style={{ left: percent(from - fall.from), width: percent(to - from) }}
                />
              ))}
            </span>
            <span class="fall-end">
              {row.call.attempt > 1 ? <em class="badge">{row.call.attempt} tries</em> : null}
              {duration((row.call.endedAt ?? fall.to) - row.call.startedAt)}
            </span>
          </li>
        ))}
      </ol>
      <ul class="legend" aria-label="What the colours mean">
        {Object.entries(kinds).map(([kind, word]) => (
          <li key={kind}>
            <i class={`bar ${kind}`} /> {word}
          </li>
        ))}
      </ul>
    </div>
  );
};
