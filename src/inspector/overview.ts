import type { Chart, ChartNode } from './chart.ts';
import type { Arrow, Box } from './drawing.ts';
import type { Point, Rect, Size } from './layers.ts';
import { type Layout, layoutOf } from './layout.ts';
import { fonts, textWidth } from './text-size.ts';

/** A nested state in the box of the state that holds it, with its place in that box. */
export interface Chip extends Rect {
  id: string;
  name: string;
}

export interface Overview {
  layout: Layout;
  /** By the id of the box. */
  chips: Map<string, Chip[]>;
}

const chipHeight = 20;
const gap = 5;
const head = 32;
const side = 10;
const rowGap = 26;

/**
 * A chart that fits a screen: the states directly below the root as boxes, what is nested in them as chips, and one arrow for all
 * transitions from one box to another. It stays as it is while states light up. `isWide`: from left to right, else from top to bottom.
 */
export const overviewOf = (chart: Chart, isWide: boolean): Overview => {
  const root = chart.nodes.find(({ parent }) => parent === null);
  const chips = new Map<string, Chip[]>();
  if (root === undefined) return { layout: { width: 0, height: 0, boxes: [], arrows: [] }, chips };
  const topOf = topsOf(chart, root.id);
  const boxes = chart.nodes
    .filter(({ parent }) => parent === root.id)
    .map((top): Box => {
      const inside = chart.nodes.filter(
        (node) => node.id !== top.id && topOf(node.id) === top.id && isLeaf(chart, node),
      );
      const placed = placeChips(top, inside, isWide ? 150 : 300);
      chips.set(top.id, placed.chips);
      return { ...boxOf(top), parent: root.id, size: isWide ? turnedSize(placed.size) : placed.size };
    });
  const rootBox: Box = {
    ...boxOf(root),
    kind: root.type === 'parallel' ? 'parallel' : 'composite',
    size: { width: 2, height: 2 },
  };
  const layout = layoutOf({ boxes: [rootBox, ...boxes], arrows: arrowsOf(chart, root, topOf), gap: rowGap });
  return { layout: isWide ? turned(layout) : layout, chips };
};

const boxOf = ({ id, key, type, description }: ChartNode): Box => ({
  id,
  kind: type === 'final' ? 'final' : type === 'history' || type === 'deep-history' ? 'history' : 'state',
  name: type === 'history' ? 'H' : type === 'deep-history' ? 'H*' : key,
  parent: null,
  lines: [],
  description,
});

const turnedSize = ({ width, height }: Size): Size => ({ width: height, height: width });
const turnedPoint = ({ x, y }: Point): Point => ({ x: y, y: x });
const turnedRect = (rect: Rect): Rect => ({ ...turnedPoint(rect), ...turnedSize(rect) });

/** From top to bottom becomes from left to right. */
const turned = ({ width, height, boxes, arrows }: Layout): Layout => ({
  width: height,
  height: width,
  boxes: boxes.map((box) => ({ ...box, ...turnedRect(box), text: turnedRect(box.text) })),
  arrows: arrows.map((arrow) => ({ ...arrow, points: arrow.points.map(turnedPoint), label: turnedPoint(arrow.label) })),
});

const isLeaf = ({ nodes }: Chart, { id }: ChartNode): boolean => !nodes.some(({ parent }) => parent === id);

/** The state below the root that is or holds a node; the root's own id for the root. */
const topsOf = ({ nodes }: Chart, root: string): ((id: string) => string) => {
  const parents = new Map(nodes.map(({ id, parent }) => [id, parent]));
  return (id) => {
    let top = id;
    for (
      let parent = parents.get(top);
      parent !== null && parent !== undefined && parent !== root;
      parent = parents.get(top)
    )
      top = parent;
    return top;
  };
};

const placeChips = (top: ChartNode, inside: readonly ChartNode[], rowWidth: number): { chips: Chip[]; size: Size } => {
  const nameWidth = textWidth(top.key, fonts.name) * 1.05 + 28;
  const chips: Chip[] = [];
  let [x, y] = [side, head];
  let right = 0;
  for (const { id, key } of inside) {
    const width = textWidth(key, fonts.line) + 14;
    if (x > side && x + width > rowWidth) [x, y] = [side, y + chipHeight + gap];
    chips.push({ id, name: key, x, y, width, height: chipHeight });
    right = Math.max(right, x + width);
    x += width + gap;
  }
  const height = chips.length === 0 ? 38 : y + chipHeight + side;
  return { chips, size: { width: Math.max(76, nameWidth, right + side), height } };
};

const arrowsOf = (chart: Chart, root: ChartNode, topOf: (id: string) => string): Arrow[] => {
  const arrows = new Map<string, Arrow>();
  if (root.initial !== null) {
    const to = topOf(root.initial);
    arrows.set('|', { kind: 'initial', from: root.id, to, edges: [], lines: [] });
  }
  for (const edge of chart.edges) {
    if (edge.target === null) continue;
    const [from, to] = [topOf(edge.source), topOf(edge.target)];
    if (from === to || to === root.id) continue;
    const key = `${from}|${to}`;
    const arrow = arrows.get(key) ?? {
      kind: from === root.id ? ('inside' as const) : ('between' as const),
      from,
      to,
      edges: [],
      lines: [],
    };
    arrow.edges.push(edge.id);
    arrows.set(key, arrow);
  }
  return [...arrows.values()];
};
