/** @jsxImportSource preact */
import type { Chart } from '../chart.ts';
import { pathData } from '../chart-to-svg.ts';
import type { Layout, PlacedArrow, PlacedBox } from '../layout.ts';
import type { Chip } from '../overview.ts';
import { pathOf } from '../timeline.ts';
import type { ActorView } from '../view-state.ts';
import { lineHeight } from '../text-size.ts';
import { useStore } from './use-store.ts';
import { toneOfStates } from './words.ts';

/** The active states with all that hold them. */
const withAncestors = (chart: Chart, states: readonly string[]): Set<string> => {
  const parents = new Map(chart.nodes.map(({ id, parent }) => [id, parent]));
  const all = new Set<string>();
  for (const state of states)
    for (let id: string | null | undefined = state; id !== null && id !== undefined; id = parents.get(id)) all.add(id);
  return all;
};

interface Lights {
  active: Set<string>;
  left: Set<string>;
  taken: Set<string>;
  tone: string;
}

const lightOf = (id: string, { active, left, tone }: Lights): string =>
  active.has(id) ? `active ${tone}` : left.has(id) ? 'left' : '';

const StateBox = ({ box, chips, lights }: { box: PlacedBox; chips: readonly Chip[]; lights: Lights }) => {
  const store = useStore();
  const { id, kind, name, lines, text, hasInside, parent } = box;
  const middle = text.x + text.width / 2;
  const lead = text.y + (kind === 'history' ? 20 : chips.length > 0 ? 21 : text.height / 2 + 5 - lines.length * 8);
  const open = (event: Event, state: string): void => {
    event.stopPropagation();
    store.look({ state: store.state === state ? undefined : state });
  };
  const onKey = (event: KeyboardEvent, state: string): void => {
    if (event.key === 'Enter' || event.key === ' ') open(event, state);
  };
  const interactive = (state: string, label: string) => ({
    role: 'button' as const,
    tabIndex: 0,
    'aria-label': `${label}${lights.active.has(state) ? ', active' : ''}`,
    'aria-pressed': store.state === state,
    'data-state': state,
    onClick: (event: Event) => open(event, state),
    onKeyDown: (event: KeyboardEvent) => onKey(event, state),
  });
  // The overview needs no frame.
  if (parent === null && text.height < 10) return null;
  if (parent === null) {
    return (
      <g class="state root">
        <rect x={box.x} y={box.y} width={box.width} height={box.height} rx="12" />
        <text class="name" x={middle} y={text.y + 22}>
          {name}
        </text>
      </g>
    );
  }
  return (
    <g class={`state ${kind} ${hasInside ? 'outer' : ''} ${lightOf(id, lights)}`}>
      <g {...interactive(id, `state ${name}`)}>
        <rect x={box.x} y={box.y} width={box.width} height={box.height} rx={kind === 'history' ? 15 : 8} />
        {kind === 'final' ? (
          <rect class="inner" x={box.x + 3} y={box.y + 3} width={box.width - 6} height={box.height - 6} rx="6" />
        ) : null}
        <text class="name" x={middle} y={lead}>
          {name}
        </text>
        {lines.map((line, index) => (
          <text key={line} class="line" x={middle} y={lead + (index + 1) * lineHeight + 2}>
            {line}
          </text>
        ))}
      </g>
      {chips.map((chip) => (
        <g
          key={chip.id}
          class={`chip ${lightOf(chip.id, lights)}`}
          {...interactive(chip.id, `state ${name}, ${chip.name}`)}
        >
          <rect x={box.x + chip.x} y={box.y + chip.y} width={chip.width} height={chip.height} rx="5" />
          <text x={box.x + chip.x + chip.width / 2} y={box.y + chip.y + 14}>
            {chip.name}
          </text>
        </g>
      ))}
    </g>
  );
};

const wordsOf = (chart: Chart, edges: readonly string[]): string =>
  chart.edges
    .filter(({ id }) => edges.includes(id))
    .map(({ label, guard }) => [label === '' ? 'always' : label, ...(guard === null ? [] : [`[${guard}]`])].join(' '))
    .join('\n');

const ArrowLine = ({ chart, arrow, lights }: { chart: Chart; arrow: PlacedArrow; lights: Lights }) => {
  const [start] = arrow.points;
  const isTaken = arrow.edges.some((id) => lights.taken.has(id));
  return (
    <g class={`arrow ${arrow.kind} ${isTaken ? 'taken' : ''}`} data-edges={JSON.stringify(arrow.edges)}>
      {arrow.edges.length === 0 ? null : <title>{wordsOf(chart, arrow.edges)}</title>}
      <path class="reach" d={pathData(arrow.points)} />
      <path d={pathData(arrow.points)} marker-end={`url(#${isTaken ? 'head-taken' : 'head'})`} />
      {arrow.kind === 'between' || start === undefined ? null : <circle cx={start.x} cy={start.y} r="4" />}
    </g>
  );
};

const ArrowWords = ({ arrow, lights }: { arrow: PlacedArrow; lights: Lights }) => {
  const { text, label, labelSize, edges } = arrow;
  if (text.length === 0) return null;
  const top = label.y - ((text.length - 1) * lineHeight) / 2 + 4;
  return (
    <g class={`label ${edges.some((id) => lights.taken.has(id)) ? 'taken' : ''}`}>
      <rect
        x={label.x - labelSize.width / 2}
        y={label.y - labelSize.height / 2}
        width={labelSize.width}
        height={labelSize.height}
        rx="4"
      />
      {text.map((line, index) => (
        <text key={line} class={line.startsWith('[') ? 'guard' : ''} x={label.x} y={top + index * lineHeight}>
          {line}
        </text>
      ))}
    </g>
  );
};

const heads = ['head', 'head-taken'];

/** The machine with its active states lit and the transition that it took last. */
export const ChartDrawing = ({
  chart,
  layout,
  chips,
  actor,
}: {
  chart: Chart;
  layout: Layout;
  chips: ReadonlyMap<string, Chip[]> | undefined;
  actor: ActorView;
}) => {
  const active = withAncestors(chart, actor.states);
  const lights: Lights = {
    active,
    left: new Set([...withAncestors(chart, actor.move?.from ?? [])].filter((id) => !active.has(id))),
    taken: new Set(actor.move?.edges),
    tone: toneOfStates(actor.states),
  };
  // What was taken is drawn last, above the rest.
  const arrows = layout.arrows.toSorted(
    (a, b) => Number(a.edges.some((id) => lights.taken.has(id))) - Number(b.edges.some((id) => lights.taken.has(id))),
  );
  return (
    <svg
      class="drawing"
      role="group"
      aria-label={`Statechart ${chart.id}, active: ${pathOf(actor.states)}`}
      width={layout.width}
      height={layout.height}
      viewBox={`0 0 ${layout.width} ${layout.height}`}
    >
      <defs>
        {heads.map((id) => (
          <marker
            key={id}
            id={id}
            class={id}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path d="M0 0.5 8 4 0 7.5z" />
          </marker>
        ))}
      </defs>
      {layout.boxes.map((box) => (
        <StateBox key={box.id} box={box} chips={chips?.get(box.id) ?? []} lights={lights} />
      ))}
      {arrows.map((arrow) => (
        <ArrowLine key={`${arrow.from} ${arrow.to}`} chart={chart} arrow={arrow} lights={lights} />
      ))}
      {arrows.map((arrow) => (
        <ArrowWords key={`${arrow.from} ${arrow.to}`} arrow={arrow} lights={lights} />
      ))}
    </svg>
  );
};
