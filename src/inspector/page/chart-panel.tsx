/** @jsxImportSource preact */
import { useMemo, useState } from 'preact/hooks';
import { agentsOf, tagsOf } from '../actor-tree.ts';
import type { Chart } from '../chart.ts';
import { visible } from '../escape-control.ts';
import { drawingOf } from '../drawing.ts';
import { type Layout, layoutOf } from '../layout.ts';
import { type Chip, overviewOf } from '../overview.ts';
import { actorName, edgeOf, eventName, pathOf } from '../timeline.ts';
import { type ActorView, type SessionView, type TakenStep, sessionOf } from '../view-state.ts';
import { ChartDrawing } from './chart-drawing.tsx';
import { ZoomPane } from './zoom-pane.tsx';
import { usePlayback } from './use-playback.ts';
import { useStore } from './use-store.ts';

/** A chart that is small or flat is drawn whole; a nested one fits the screen as an overview. */
const overviewFrom = 9;

const Caption = ({ chart, step }: { chart: Chart; step: TakenStep | undefined }) => {
  if (step === undefined) return <p class="caption">No transition yet.</p>;
  const edge = edgeOf(chart, step.edges[0]);
  // A store does not say which one of several it was.
  const isKnown = edge !== undefined && step.edges.length === 1;
  const refused = chart.edges
    .slice(0, isKnown ? chart.edges.indexOf(edge) : 0)
    .filter(({ source, event, guard }) => source === edge?.source && event === edge.event && guard !== null);
  const [from, to] = [pathOf(step.from), pathOf(step.to)];
  return (
    <p class="caption" aria-live="polite">
      {from === to ? (
        <b>{to}</b>
      ) : (
        <>
          {from} <span class="arrow-sign">→</span> <b>{to}</b>
        </>
      )}
      <span class="cause">
        {edge?.event === '' ? `always, after ${eventName(step.event)}` : (edge?.label ?? eventName(step.event))}
      </span>
      {!isKnown || edge.guard === null ? null : <span class="guard holds">{edge.guard}</span>}
      {refused.length === 0 ? null : (
        <span class="guard" title={refused.map(({ guard }) => guard).join(', ')}>
          after {refused.length} {refused.length === 1 ? 'guard' : 'guards'} said no
        </span>
      )}
    </p>
  );
};

interface Drawn {
  layout: Layout;
  chips?: ReadonlyMap<string, Chip[]>;
}

const Canvas = ({ chart, actor, isFull }: { chart: Chart; actor: ActorView; isFull: boolean }) => {
  const drawings = useMemo(
    (): Drawn[] =>
      isFull
        ? [{ layout: layoutOf(drawingOf(chart, { internal: false })) }]
        : [overviewOf(chart, true), overviewOf(chart, false)],
    [chart, isFull],
  );
  return (
    <ZoomPane
      key={`${chart.id} ${String(isFull)}`}
      sizes={drawings.map(({ layout }) => layout)}
      focusOf={(index) => drawings[index]?.layout.boxes.find(({ id }) => id === actor.states[0])}
    >
      {(index) => {
        const { layout, chips } = drawings[index] ?? { layout: { width: 0, height: 0, boxes: [], arrows: [] } };
        return <ChartDrawing chart={chart} layout={layout} chips={chips} actor={actor} />;
      }}
    </ZoomPane>
  );
};

/** The outermost agent, or the machine that the session is. */
const mainActor = (session: SessionView | undefined): ActorView | undefined =>
  session === undefined ? undefined : (agentsOf(session)[0] ?? session.actors[session.root]);

export const ChartPanel = () => {
  const store = useStore();
  const [full, setFull] = useState<Record<string, boolean>>({});
  const chosen = store.session?.actors[store.actor ?? ''];
  const key = (chosen ?? mainActor(store.session))?.key;
  const view = usePlayback(key);
  const session = sessionOf(view, store.sessionId);
  const actor = session?.actors[key ?? ''] ?? mainActor(session);
  const chart = actor?.chart === null || actor === undefined ? undefined : view.charts[actor.chart];
  if (session === undefined || actor === undefined || chart === undefined) {
    return (
      <section class="panel chart" aria-label="Chart">
        <p class="empty">No machine to draw.</p>
      </section>
    );
  }
  const isFull = full[chart.id] ?? chart.nodes.length < overviewFrom;
  const tags = tagsOf(actor.states, chart.nodes);
  return (
    <section class="panel chart" aria-label="Chart">
      <header>
        <h2>{visible(actorName(actor, session))}</h2>
        {chosen === undefined ? null : (
          <button type="button" class="link" onClick={() => store.look({ actor: undefined })}>
            back to the agent
          </button>
        )}
        {tags.map((tag) => (
          <span key={tag} class="tag">
            {tag}
          </span>
        ))}
        <div class="switch" role="group" aria-label="How the chart is drawn">
          <button type="button" aria-pressed={!isFull} onClick={() => setFull({ ...full, [chart.id]: false })}>
            Overview
          </button>
          <button type="button" aria-pressed={isFull} onClick={() => setFull({ ...full, [chart.id]: true })}>
            All transitions
          </button>
        </div>
      </header>
      <Canvas chart={chart} actor={actor} isFull={isFull} />
      <Caption chart={chart} step={actor.step} />
    </section>
  );
};
