import type { Arrow, Box, Drawing } from './drawing.ts';
import { bottomId, headId, layers, topId, type Layers, type Point, type Rect, type Size } from './layers.ts';
import { sizeOfLines, sizeOfText } from './text-size.ts';

export interface PlacedBox extends Box, Rect {
  /** Where its name and lines stand: all of a state, the head of a composite. */
  text: Rect;
  hasInside: boolean;
}

export interface PlacedArrow extends Arrow {
  /** Down or up, never along: a curve between two points that keeps vertical at both stays clear of the boxes. */
  points: Point[];
  /** Its lines with each guard below its event. */
  text: string[];
  /** The middle of the text. */
  label: Point;
  labelSize: Size;
}

export interface Layout {
  width: number;
  height: number;
  boxes: PlacedBox[];
  arrows: PlacedArrow[];
}

/**
 * One layout for each composite, from the inside out, so boxes never overlap. An arrow that crosses a border is drawn in
 * pieces that meet at the border, in a place of its own.
 */
export const layoutOf = (drawing: Drawing): Layout => {
  const root = drawing.boxes.find(({ parent }) => parent === null);
  if (root === undefined) return { width: 0, height: 0, boxes: [], arrows: [] };
  const plan = planOf(drawing);
  const isComposite = plan.children(root.id).length > 0;
  const block = isComposite ? compositeOf(plan, root, []) : leafOf(root, drawing.arrows[0]);
  return {
    width: block.width + 2 * margin,
    height: block.height + 2 * margin,
    ...shifted(block, { x: margin, y: margin }),
  };
};

const margin = 6;
const padding = 16;
const loopWidth = 30;

/** What is laid out as a whole; everything in it is relative to its corner. */
interface Block {
  width: number;
  height: number;
  /** The box itself without its loops. */
  box: Rect;
  boxes: PlacedBox[];
  arrows: PlacedArrow[];
  /** From the border to the end inside, by port. */
  tails: Map<string, Point[]>;
}

/** An arrow that ends deeper inside crosses the border here. */
interface Port {
  key: string;
  side: 'top' | 'bottom';
  end: string;
}

interface Plan {
  drawing: Drawing;
  children(id: string): Box[];
  /** The child of `ancestor` that is or holds `id`. */
  childOver(id: string, ancestor: string): string;
  /** The innermost composite that an arrow is drawn in. */
  levelOf(arrow: Arrow): string;
}

const planOf = (drawing: Drawing): Plan => {
  const byId = new Map(drawing.boxes.map((box) => [box.id, box]));
  const pathOf = (id: string): string[] => {
    const parent = byId.get(id)?.parent ?? null;
    return parent === null ? [id] : [...pathOf(parent), id];
  };
  return {
    drawing,
    children: (id) => drawing.boxes.filter(({ parent }) => parent === id),
    childOver: (id, ancestor) => pathOf(id)[pathOf(ancestor).length] ?? id,
    levelOf: ({ kind, from, to }) => {
      if (kind !== 'between') return from;
      const other = pathOf(to);
      const shared = pathOf(from).filter((id, at) => id === other[at] && id !== from && id !== to);
      return shared.at(-1) ?? from;
    },
  };
};

const compositeOf = (plan: Plan, box: Box, ports: readonly Port[]): Block => {
  const children = plan.children(box.id);
  const isLoop = ({ kind, from, to }: Arrow): boolean => kind === 'between' && from === to;
  const arrows = plan.drawing.arrows.filter((arrow) => plan.levelOf(arrow) === box.id && !isLoop(arrow));
  const links = arrows.map((arrow) => ({
    arrow,
    key: `${plan.drawing.arrows.indexOf(arrow)}`,
    from: arrow.kind === 'between' ? plan.childOver(arrow.from, box.id) : headId,
    to: plan.childOver(arrow.to, box.id),
  }));
  const upward = backEdges([headId, ...children.map(({ id }) => id)], links);

  const portsOf = (child: string): Port[] => [
    ...links.flatMap(({ arrow, key, from, to }): Port[] => {
      const up = upward.has(key);
      const leaves = from === child && arrow.from !== child;
      const enters = to === child && arrow.to !== child;
      return [
        ...(leaves ? [{ key: `${key}>`, side: up ? ('top' as const) : ('bottom' as const), end: arrow.from }] : []),
        ...(enters ? [{ key: `>${key}`, side: up ? ('bottom' as const) : ('top' as const), end: arrow.to }] : []),
      ];
    }),
    ...ports.filter(({ end }) => end !== child && plan.childOver(end, box.id) === child),
  ];
  const blocks = new Map(
    children.map((child) => [
      child.id,
      plan.children(child.id).length > 0
        ? compositeOf(plan, child, portsOf(child.id))
        : leafOf(
            child,
            plan.drawing.arrows.find((arrow) => isLoop(arrow) && arrow.from === child.id),
          ),
    ]),
  );

  const grid = layers({
    gap: plan.drawing.gap ?? 48,
    head: box.size ?? sizeOfText(box.name, box.lines),
    blocks: [...blocks].map(([id, block]) => ({
      id,
      width: block.width,
      height: block.height,
      box: block.box,
      fixed: new Map([...block.tails].map(([key, tail]) => [key, tail[0]?.x ?? 0])),
    })),
    links: [
      ...links.map(({ arrow, key, from, to }) => {
        const up = upward.has(key);
        const upper = { id: up ? to : from, port: up ? `>${key}` : `${key}>` };
        const lower = { id: up ? from : to, port: up ? `${key}>` : `>${key}` };
        return { key, upper, lower, ...sizeOfLines(textOf(arrow)), weight: arrow.kind === 'initial' ? 4 : 1 };
      }),
      ...ports.map(({ key, side, end }) => {
        const inside = { id: plan.childOver(end, box.id), port: key };
        const border = { id: side === 'top' ? topId : bottomId, port: key };
        return {
          key: `|${key}`,
          upper: side === 'top' ? border : inside,
          lower: side === 'top' ? inside : border,
          width: 0,
          height: 0,
          weight: 1,
        };
      }),
    ],
  });
  return assemble({ box, grid, blocks, links, upward, ports });
};

interface Link {
  arrow: Arrow;
  key: string;
  from: string;
  to: string;
}

interface Parts {
  box: Box;
  grid: Layers;
  blocks: Map<string, Block>;
  links: Link[];
  upward: Set<string>;
  ports: readonly Port[];
}

const assemble = ({ box, grid, blocks, links, upward, ports }: Parts): Block => {
  const offset = { x: padding, y: padding / 2 };
  const width = grid.width + 2 * padding;
  const height = grid.height + padding / 2 + padding;
  const originOf = (id: string): Point => moved(grid.origins.get(id) ?? { x: 0, y: 0 }, offset);
  const inner = [...blocks].map(([id, block]) => ({ id, block, ...shifted(block, originOf(id)) }));
  /** The rest of a line inside the child where it ends; nothing when the child is the end. */
  const tailOf = (id: string, key: string): Point[] =>
    (blocks.get(id)?.tails.get(key) ?? []).map((point) => moved(point, originOf(id))).slice(1);
  const lineOf = (key: string): Point[] => (grid.lines.get(key) ?? []).map((point) => moved(point, offset));

  const arrows = links.map(({ arrow, key, from, to }): PlacedArrow => {
    const line = upward.has(key) ? lineOf(key).toReversed() : lineOf(key);
    const points = [...tailOf(from, `${key}>`).toReversed(), ...line, ...tailOf(to, `>${key}`)];
    const text = textOf(arrow);
    return {
      ...arrow,
      points,
      text,
      labelSize: sizeOfLines(text),
      label: moved(grid.labels.get(key) ?? { x: 0, y: 0 }, offset),
    };
  });
  const tails = ports.map(({ key, side }): [string, Point[]] => {
    const line = side === 'top' ? lineOf(`|${key}`) : lineOf(`|${key}`).toReversed();
    const start = line[0] ?? { x: width / 2, y: 0 };
    const child = [...blocks].find(([, block]) => block.tails.has(key))?.[0];
    return [
      key,
      [{ x: start.x, y: side === 'top' ? 0 : height }, ...line, ...(child === undefined ? [] : tailOf(child, key))],
    ];
  });
  const whole = { x: 0, y: 0, width, height };
  const text = { ...grid.head, ...moved(grid.head, offset) };
  return {
    width,
    height,
    box: whole,
    boxes: [{ ...box, ...whole, text, hasInside: true }, ...inner.flatMap(({ boxes }) => boxes)],
    arrows: [...inner.flatMap((part) => part.arrows), ...arrows],
    tails: new Map(tails),
  };
};

/** A state with nothing inside; a loop (there is at most one: arrows are merged) goes at its right. */
const leafOf = (box: Box, loop: Arrow | undefined): Block => {
  const size = box.size ?? (box.kind === 'history' ? { width: 30, height: 30 } : sizeOfText(box.name, box.lines));
  const text = loop === undefined ? [] : textOf(loop);
  const labelSize = sizeOfLines(text);
  const width = size.width + (loop === undefined ? 0 : loopWidth + labelSize.width);
  const height = Math.max(size.height, labelSize.height);
  const rect = { x: 0, y: (height - size.height) / 2, ...size };
  const [upper, lower] = [height / 2 - size.height / 5, height / 2 + size.height / 5];
  const reach = size.width + loopWidth - 10;
  const points = [
    { x: size.width, y: upper },
    { x: reach, y: upper },
    { x: reach, y: lower },
    { x: size.width, y: lower },
  ];
  const label = { x: size.width + loopWidth - 6 + labelSize.width / 2, y: height / 2 };
  return {
    width,
    height,
    box: rect,
    boxes: [{ ...box, ...rect, text: rect, hasInside: false }],
    arrows: loop === undefined ? [] : [{ ...loop, points, text, label, labelSize }],
    tails: new Map(),
  };
};

/** `done: model [hasCalls]` on two lines: pictures are read at the width of a page. */
const textOf = ({ lines }: Arrow): string[] =>
  lines.flatMap((line) => {
    const at = line.indexOf(' [');
    return at === -1 ? [line] : [line.slice(0, at), line.slice(at + 1)];
  });

/** Links that would close a circle when the children are walked in order: they are drawn upwards. */
const backEdges = (ids: readonly string[], links: readonly Link[]): Set<string> => {
  const back = new Set<string>();
  const open = new Set<string>();
  const left = new Set<string>();
  const walk = (id: string): void => {
    open.add(id);
    for (const { key, from, to } of links) {
      if (from !== id) continue;
      if (open.has(to)) back.add(key);
      else if (!left.has(to)) walk(to);
    }
    open.delete(id);
    left.add(id);
  };
  for (const id of ids) if (!left.has(id)) walk(id);
  return back;
};

const moved = (point: Point, by: Point): Point => ({ x: point.x + by.x, y: point.y + by.y });

const shifted = (block: Block, by: Point): { boxes: PlacedBox[]; arrows: PlacedArrow[] } => ({
  boxes: block.boxes.map((box) => ({ ...box, ...moved(box, by), text: { ...box.text, ...moved(box.text, by) } })),
  arrows: block.arrows.map((arrow) => ({
    ...arrow,
    points: arrow.points.map((point) => moved(point, by)),
    label: moved(arrow.label, by),
  })),
});
