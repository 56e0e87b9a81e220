import { Graph, layout } from '@dagrejs/dagre';
import { routed, type Row } from './tracks.ts';

export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

/** `x`, `y` are the left upper corner. */
export interface Rect extends Point, Size {}

export const headId = '|head';
export const topId = '|top';
export const bottomId = '|bottom';
const ceilingId = '|ceiling';
const floorId = '|floor';

export interface LayersInput {
  /** Between two rows, at least. */
  gap: number;
  /** What stands on the top row: the name of the composite. */
  head: Size;
  blocks: readonly LayerBlock[];
  links: readonly LayerLink[];
}

export interface LayerBlock extends Size {
  id: string;
  /** The part that lines end at. */
  box: Rect;
  /** Where lines with these ports have to end. */
  fixed: ReadonlyMap<string, number>;
}

/** A line from an upper to a lower end with room for its text. Ends are blocks or one of the ids below. */
export interface LayerLink extends Size {
  key: string;
  upper: LinkEnd;
  lower: LinkEnd;
  weight: number;
}

export interface LinkEnd {
  id: string;
  port: string;
}

export interface Layers extends Size {
  head: Rect;
  origins: Map<string, Point>;
  /** From the upper to the lower end. */
  lines: Map<string, Point[]>;
  labels: Map<string, Point>;
}

/** As dagre tells it: `x`, `y` are the middle. */
interface Placed extends Size, Point {}

/** Rows of blocks, from top to bottom, with lines between them that go around blocks. The links must not form a circle. */
export const layers = (input: LayersInput): Layers => {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 20, edgesep: 14, ranksep: input.gap });
  graph.setDefaultEdgeLabel(() => ({}));
  const nodeOf = (end: LinkEnd): string => (end.id === topId || end.id === bottomId ? `${end.id}|${end.port}` : end.id);

  // Two nodes that are not drawn keep the head and what comes through the border in the first and last row.
  graph.setNode(ceilingId, { width: 0, height: 0 });
  graph.setNode(headId, { ...input.head });
  graph.setEdge(ceilingId, headId, { weight: 50 });
  for (const { id, width, height } of input.blocks) {
    graph.setNode(id, { width, height });
    if (!input.links.some(({ lower, upper }) => lower.id === id && upper.id !== topId))
      graph.setEdge(headId, id, { weight: 0.01 }, '|');
  }
  const hasFloor = input.links.some(({ lower }) => lower.id === bottomId);
  if (hasFloor) {
    graph.setNode(floorId, { width: 0, height: 0 });
    for (const { id } of input.blocks) {
      if (!input.links.some(({ upper, lower }) => upper.id === id && lower.id !== bottomId))
        graph.setEdge(id, floorId, { weight: 0.01 }, '|');
    }
  }
  for (const { key, upper, lower, width, height, weight } of input.links) {
    if (upper.id === topId) {
      graph.setNode(nodeOf(upper), { width: 4, height: 0 });
      graph.setEdge(ceilingId, nodeOf(upper), { weight: 50 }, '|');
    }
    if (lower.id === bottomId) {
      graph.setNode(nodeOf(lower), { width: 4, height: 0 });
      graph.setEdge(nodeOf(lower), floorId, { weight: 50 }, '|');
    }
    graph.setEdge(nodeOf(upper), nodeOf(lower), { width, height, weight, labelpos: 'c' }, key);
  }
  layout(graph);
  return measure(input, {
    node: (id) => graph.node(id),
    link: ({ key, upper, lower }) => graph.edge(nodeOf(upper), nodeOf(lower), key),
    nodeOf,
  });
};

interface Found {
  node(id: string): Placed;
  link(link: LayerLink): Placed & { points: Point[] };
  nodeOf(end: LinkEnd): string;
}

const measure = (input: LayersInput, { node, link, nodeOf }: Found): Layers => {
  const blocks = [node(headId), ...input.blocks.map(({ id }) => node(id))];
  const texts = input.links.map(link).filter(({ width }) => width > 0);
  const bends = input.links
    .flatMap((item) => link(item).points.slice(1, -1))
    .map(({ x, y }) => ({ x, y, width: 8, height: 0 }));
  const ports = input.links
    .flatMap(({ upper, lower }) => [upper, lower])
    .filter(({ id }) => id === topId || id === bottomId)
    .map((end) => ({ ...node(nodeOf(end)), width: 24 }));
  const all = [...blocks, ...texts, ...bends, ...ports];
  const left = Math.min(...all.map(({ x, width }) => x - width / 2));
  const right = Math.max(...all.map(({ x, width }) => x + width / 2));
  const top = Math.min(...all.map(({ y, height }) => y - height / 2));
  const bottom = Math.max(...all.map(({ y, height }) => y + height / 2));
  const middle = ({ x, y }: Point): Point => ({ x: x - left, y: y - top });
  const corner = (id: string): Point => ({
    x: node(id).x - node(id).width / 2 - left,
    y: node(id).y - node(id).height / 2 - top,
  });

  const rows = rowsOf(all.map((item) => ({ ...item, ...middle(item) })));
  const rowAt = (y: number): Row =>
    rows.find((row) => row.top <= y + 1 && row.bottom >= y - 1) ?? { top: y, bottom: y };
  const boxes = new Map(
    input.blocks.map(({ id, box }): [string, Rect] => [
      id,
      { ...box, x: corner(id).x + box.x, y: corner(id).y + box.y },
    ]),
  );
  boxes.set(headId, { ...input.head, ...corner(headId) });
  const fixed = new Map(
    input.blocks.flatMap(({ id, fixed }) =>
      [...fixed].map(([port, x]) => [`${id} ${port}`, corner(id).x + x] as const),
    ),
  );
  const inner = new Map(
    input.links.map((item) => [
      item.key,
      link(item)
        .points.slice(1, -1)
        .map(middle)
        .flatMap(({ x, y }) => [
          { x, y: rowAt(y).top },
          { x, y: rowAt(y).bottom },
        ]),
    ]),
  );
  const slots = slotsOf(input.links, boxes, fixed, inner);
  const endOf = (end: LinkEnd, slot: number | undefined, side: 'upper' | 'lower'): Point[] => {
    const box = boxes.get(end.id);
    const { x, y } = middle(node(nodeOf(end)));
    const row = rowAt(y);
    if (box === undefined)
      return [
        { x, y: side === 'upper' ? 0 : bottom - top },
        ...(side === 'upper' ? [{ x, y: row.bottom }] : [{ x, y: row.top }]),
      ];
    const column = slot ?? box.x + box.width / 2;
    return side === 'upper'
      ? [
          { x: column, y: box.y + box.height },
          { x: column, y: row.bottom },
        ]
      : [
          { x: column, y: box.y },
          { x: column, y: row.top },
        ];
  };
  const whole = input.links.map(({ key, upper, lower }): [string, Point[]] => {
    const start = endOf(upper, slots.get(`${key} upper`), 'upper');
    const end = endOf(lower, slots.get(`${key} lower`), 'lower').toReversed();
    return [key, [...start, ...(inner.get(key) ?? []), ...end]];
  });
  const { lines, shift } = routed(new Map(whole), rows);
  const shifted = ({ x, y }: Point): Point => ({ x, y: shift(y) });
  return {
    width: right - left,
    height: shift(bottom - top),
    head: { ...input.head, ...shifted(corner(headId)) },
    origins: new Map(input.blocks.map(({ id }) => [id, shifted(corner(id))])),
    lines,
    labels: new Map(input.links.map((item) => [item.key, shifted(middle(link(item)))])),
  };
};

/** What dagre put on one height. */
const rowsOf = (items: readonly Placed[]): Row[] => {
  const rows = new Map<number, Row>();
  for (const { y, height } of items) {
    const row = rows.get(Math.round(y)) ?? { top: y, bottom: y };
    rows.set(Math.round(y), { top: Math.min(row.top, y - height / 2), bottom: Math.max(row.bottom, y + height / 2) });
  }
  return [...rows.values()].toSorted((a, b) => a.top - b.top);
};

/** Gives each line its own place at the side of a box, in the order in which they come. */
const slotsOf = (
  links: readonly LayerLink[],
  boxes: ReadonlyMap<string, Rect>,
  fixed: ReadonlyMap<string, number>,
  inner: ReadonlyMap<string, Point[]>,
): Map<string, number> => {
  const slots = new Map<string, number>();
  const sides = new Map<string, { slot: string; wish: number; box: Rect }[]>();
  for (const { key, upper, lower } of links) {
    const ends = [
      { name: 'upper', end: upper, next: inner.get(key)?.[0] },
      { name: 'lower', end: lower, next: inner.get(key)?.at(-1) },
    ];
    for (const { name, end, next } of ends) {
      const box = boxes.get(end.id);
      const place = fixed.get(`${end.id} ${end.port}`);
      if (place !== undefined) slots.set(`${key} ${name}`, place);
      else if (box !== undefined) {
        const side = `${end.id} ${name}`;
        sides.set(side, [...(sides.get(side) ?? []), { slot: `${key} ${name}`, wish: next?.x ?? 0, box }]);
      }
    }
  }
  for (const side of sides.values()) {
    const sorted = side.toSorted((a, b) => a.wish - b.wish);
    spread(
      sorted.map(({ wish }) => wish),
      sorted[0]?.box,
    ).forEach((x, index) => slots.set(sorted[index]?.slot ?? '', x));
  }
  return slots;
};

/** Places along a box, as near to the wishes as there is room. */
const spread = (wishes: readonly number[], box: Rect | undefined): number[] => {
  if (box === undefined) return [];
  const [low, high] = [box.x + 10, box.x + box.width - 10];
  if ((wishes.length - 1) * slotWidth > high - low)
    return wishes.map((_, index) => box.x + (box.width * (index + 1)) / (wishes.length + 1));
  const places: number[] = [];
  for (const wish of wishes) places.push(Math.max(low, wish, (places.at(-1) ?? low - slotWidth) + slotWidth));
  for (let index = places.length - 1, limit = high; index >= 0; index -= 1, limit -= slotWidth) {
    limit = Math.min(limit, places[index] ?? limit);
    places[index] = limit;
  }
  return places;
};

const slotWidth = 12;
