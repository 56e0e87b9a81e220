import type { AnyStateMachine } from 'xstate';
import { chartOf } from './chart.ts';
import { checkMachine } from './check-machine.ts';
import { drawingOf, type DrawingOptions } from './drawing.ts';
import type { Point } from './layers.ts';
import { layoutOf, type PlacedArrow, type PlacedBox } from './layout.ts';
import { fonts, lineHeight } from './text-size.ts';

export interface ChartToSvgOptions extends DrawingOptions {
  /** What a screen reader says; the machine's id when left out. */
  title?: string;
}

/**
 * The machine as an SVG file of its own: no font, script or style from elsewhere, light or dark as the viewer's system is.
 * `data-state` carries the chart's id, `data-edges` a JSON array of them. Same machine, same text. Throws
 * `invalid-option` for what is no machine.
 */
export const chartToSvg = (machine: AnyStateMachine, options: ChartToSvgOptions = {}): string => {
  checkMachine(machine, 'chartToSvg');
  const chart = chartOf(machine);
  const { width, height, boxes, arrows } = layoutOf(drawingOf(chart, options));
  const title = options.title ?? `Statechart of ${machine.id}`;
  const size = `width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} class="chart" role="img" aria-label="${escape(title)}">`,
    `<title>${escape(title)}</title>`,
    `<style>${style}</style>`,
    '<defs><marker id="chart-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="head" d="M0 0.5 8 4 0 7.5z"/></marker></defs>',
    `<rect class="paper" width="${round(width)}" height="${round(height)}"/>`,
    ...boxes.map(drawBox),
    ...arrows.map(drawLine),
    ...arrows.filter(({ text }) => text.length > 0).map(drawLabel),
    '</svg>',
    '',
  ].join('\n');
};

const drawBox = (box: PlacedBox): string => {
  const { id, kind, name, lines, text, description, hasInside } = box;
  const rect = (inset: number, name: string): string =>
    `<rect class="${name}" x="${round(box.x + inset)}" y="${round(box.y + inset)}" width="${round(box.width - 2 * inset)}" height="${round(box.height - 2 * inset)}" rx="${kind === 'history' ? 15 : 8 - inset}"/>`;
  const middle = text.x + text.width / 2;
  const lead = kind === 'history' ? text.y + 20 : text.y + 22;
  return [
    `<g class="state ${kind}${hasInside ? ' outer' : ''}${box.parent === null ? ' root' : ''}" data-state="${escape(id)}">`,
    description === null ? '' : `<title>${escape(description)}</title>`,
    rect(0, 'edge'),
    kind === 'final' ? rect(3, 'inner') : '',
    `<text class="name" x="${round(middle)}" y="${round(lead)}">${escape(name)}</text>`,
    ...lines.map(
      (line, index) =>
        `<text class="line" x="${round(middle)}" y="${round(lead + (index + 1) * lineHeight + 2)}">${escape(line)}</text>`,
    ),
    '</g>',
  ].join('');
};

const drawLine = ({ kind, edges, points }: PlacedArrow): string => {
  const start = points[0];
  const dot =
    kind === 'between' || start === undefined ? '' : `<circle cx="${round(start.x)}" cy="${round(start.y)}" r="4.5"/>`;
  return `<g class="arrow ${kind}" data-edges="${escape(JSON.stringify(edges))}"><path d="${pathData(points)}" marker-end="url(#chart-arrow)"/>${dot}</g>`;
};

const drawLabel = ({ edges, text, label, labelSize }: PlacedArrow): string => {
  const top = label.y - ((text.length - 1) * lineHeight) / 2 + 4;
  const back = `<rect x="${round(label.x - labelSize.width / 2)}" y="${round(label.y - labelSize.height / 2)}" width="${round(labelSize.width)}" height="${round(labelSize.height)}" rx="4"/>`;
  const texts = text.map(
    (line, index) =>
      `<text${line.startsWith('[') ? ' class="guard"' : ''} x="${round(label.x)}" y="${round(top + index * lineHeight)}">${escape(line)}</text>`,
  );
  return `<g class="label" data-edges="${escape(JSON.stringify(edges))}">${back}${texts.join('')}</g>`;
};

/** A line of vertical and horizontal parts with its corners rounded. */
export const pathData = (points: readonly Point[]): string => {
  const corners = points.filter((point, index) => {
    const before = points[index - 1];
    return before === undefined || Math.hypot(point.x - before.x, point.y - before.y) > 0.1;
  });
  return corners
    .map((point, index) => {
      const before = corners[index - 1];
      const after = corners[index + 1];
      if (before === undefined) return `M${at(point)}`;
      if (after === undefined) return `L${at(point)}`;
      return `L${at(towards(point, before))}Q${at(point)} ${at(towards(point, after))}`;
    })
    .join('');
};

/** The point where a corner's curve starts: a little before it, at most half-way. */
const towards = (corner: Point, other: Point): Point => {
  const [dx, dy] = [other.x - corner.x, other.y - corner.y];
  const part = Math.min(7 / Math.hypot(dx, dy), 0.5);
  return { x: corner.x + dx * part, y: corner.y + dy * part };
};

const at = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;

const round = (value: number): string => `${Math.round(value * 10) / 10}`;

/** What XML has not, and what would turn the reading order of a name, is told as one sign that stands for it. */
const escape = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Bidi_Control}\ufffe\uffff]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

const style = [
  '.chart{--paper:#fff;--box:#f6f8fa;--outer:#eef2f766;--line:#57606a;--ink:#1f2328;--soft:#59636e;--arrow:#6e7781}',
  '@media (prefers-color-scheme:dark){.chart{--paper:#0d1117;--box:#1c2128;--outer:#1f2a3a66;--line:#8b949e;--ink:#e6edf3;--soft:#9da7b1;--arrow:#8b949e}}',
  '.chart{font-family:system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}',
  '.chart text{text-anchor:middle;fill:var(--ink)}',
  '.chart .paper{fill:var(--paper)}',
  '.chart .state rect{fill:var(--box);stroke:var(--line);stroke-width:1.3}',
  '.chart .outer rect{fill:var(--outer)}',
  '.chart .root.outer rect{fill:none;stroke-opacity:.5}',
  '.chart .parallel rect{stroke-dasharray:6 4}',
  `.chart .name{font-size:${fonts.name}px;font-weight:600}`,
  `.chart .line{font-size:${fonts.line}px;fill:var(--soft)}`,
  '.chart .arrow path{fill:none;stroke:var(--arrow);stroke-width:1.3}',
  '.chart .initial circle{fill:var(--ink)}',
  '.chart .inside circle{fill:var(--paper);stroke:var(--arrow);stroke-width:1.3}',
  '.chart .head{fill:var(--arrow)}',
  '.chart .label rect{fill:var(--paper);fill-opacity:.85}',
  `.chart .label text{font-size:${fonts.label}px;paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}`,
  '.chart .guard{fill:var(--soft)}',
].join('');
