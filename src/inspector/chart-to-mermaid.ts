import type { AnyStateMachine } from 'xstate';
import { chartOf } from './chart.ts';
import { checkMachine } from './check-machine.ts';
import { drawingOf, type Arrow, type Box, type Drawing, type DrawingOptions } from './drawing.ts';

export interface ChartToMermaidOptions extends DrawingOptions {
  /** Left out: from top to bottom. */
  direction?: 'TB' | 'LR';
}

/**
 * The machine as Mermaid's `stateDiagram-v2`, as GitHub draws it. Mermaid can't join the insides of two composites: such an
 * arrow goes from and to the composites, and its text ends with the state that it really enters (`→ failed`). Throws `invalid-option` for what is no
 * machine.
 */
export const chartToMermaid = (machine: AnyStateMachine, options: ChartToMermaidOptions = {}): string => {
  checkMachine(machine, 'chartToMermaid');
  const drawing = regionsApart(drawingOf(chartOf(machine), options));
  const names = mermaidNames(drawing.boxes);
  const root = drawing.boxes[0];
  const body = root === undefined ? [] : hasInside(drawing, root) ? insideOf(drawing, names, root) : leaf(names, root);
  // Regions need a state around them.
  const wrapped = root?.kind === 'parallel' ? block(names, root, body) : body;
  return ['stateDiagram-v2', ...indented([`direction ${options.direction ?? 'TB'}`, ...wrapped]), ''].join('\n');
};

/** Nothing can cross the border of a region: such an arrow is told in words at its source. */
const regionsApart = (drawing: Drawing): Drawing => {
  const crosses = ({ kind, from, to }: Arrow): boolean => {
    if (kind === 'initial') return false;
    const level = drawing.boxes.findLast(({ id }) => isWithin(drawing, from, id) && isWithin(drawing, to, id));
    return level?.kind === 'parallel' && hasInside(drawing, level);
  };
  const told = drawing.arrows.filter(crosses);
  const nameOf = (to: string): string => drawing.boxes.find(({ id }) => id === to)?.name ?? to;
  return {
    arrows: drawing.arrows.filter((arrow) => !crosses(arrow)),
    boxes: drawing.boxes.map((box) => ({
      ...box,
      lines: [
        ...box.lines,
        ...told.filter(({ from }) => from === box.id).map(({ lines, to }) => [...lines, `→ ${nameOf(to)}`].join(' ')),
      ],
    })),
  };
};

type Names = ReadonlyMap<string, string>;

/** The drawing's ids as Mermaid allows them. Some are its own: `note`, `state`, and `X_start` and `X_end` for the dots in X. */
const mermaidNames = (boxes: readonly Box[]): Names => {
  const taken = new Set<string>();
  return new Map(
    boxes.map(({ id }) => {
      const plain = `s_${id.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/_(start|end)$/, '_$1_')}`;
      let name = plain;
      for (let count = 2; taken.has(name); count += 1) name = `${plain}_${count}`;
      taken.add(name);
      return [id, name];
    }),
  );
};

const insideOf = (drawing: Drawing, names: Names, box: Box): string[] => {
  const children = childrenOf(drawing, box);
  const drawn = children.map((child) =>
    hasInside(drawing, child) ? block(names, child, insideOf(drawing, names, child)) : leaf(names, child),
  );
  const any = anyState(drawing, names, box);
  if (box.kind !== 'parallel') return [...drawn.flat(), ...any, ...arrowsIn(drawing, names, box, children)];
  const regions = any.length === 0 ? drawn : [...drawn, any];
  return regions.flatMap((lines, index) => (index === 0 ? lines : ['--', ...lines]));
};

const block = (names: Names, box: Box, body: readonly string[]): string[] => [
  `state "${escape(box.name)}" as ${names.get(box.id)} {`,
  ...indented(body),
  '}',
];

const leaf = (names: Names, { id, kind, name, lines }: Box): string[] => {
  const own = names.get(id);
  return [
    `state "${escape(name)}" as ${own}`,
    ...lines.map((line) => `${own} : ${escape(line)}`),
    ...(kind === 'final' ? [`${own} --> [*]`] : []),
  ];
};

const arrowsIn = (drawing: Drawing, names: Names, box: Box, children: readonly Box[]): string[] =>
  drawing.arrows.flatMap((arrow) => {
    if (arrow.kind === 'initial') return arrow.from === box.id ? [`[*] --> ${names.get(arrow.to)}`] : [];
    const to = children.find(({ id }) => isWithin(drawing, arrow.to, id));
    if (to === undefined) return [];
    if (arrow.kind === 'inside') return arrow.from === box.id ? line(arrow, anyOf(names, box), to, drawing, names) : [];
    const from = children.find(({ id }) => isWithin(drawing, arrow.from, id));
    // Both ends in one child are that child's own business, but for a loop at the child itself.
    if (from === undefined || (from === to && arrow.from !== from.id)) return [];
    return line(arrow, names.get(from.id) ?? '', to, drawing, names);
  });

const line = (arrow: Arrow, from: string, to: Box, drawing: Drawing, names: Names): string[] => {
  const entered = drawing.boxes.find(({ id }) => id === arrow.to);
  const words = [...arrow.lines, ...(arrow.to === to.id || entered === undefined ? [] : [`→ ${entered.name}`])];
  return [`${from} --> ${names.get(to.id)}${words.length === 0 ? '' : ` : ${words.map(escape).join('<br/>')}`}`];
};

/** What holds in all states of a composite: Mermaid has no arrow from a composite to its own inside, nor text in its head. */
const anyState = (drawing: Drawing, names: Names, box: Box): string[] => {
  const speaks = drawing.arrows.some(({ kind, from }) => kind === 'inside' && from === box.id);
  if (!speaks && box.lines.length === 0) return [];
  const own = anyOf(names, box);
  return [`state "any state" as ${own}`, ...box.lines.map((text) => `${own} : ${escape(text)}`)];
};

const anyOf = (names: Names, box: Box): string => `any_${names.get(box.id)}`;

const childrenOf = (drawing: Drawing, box: Box): Box[] => drawing.boxes.filter(({ parent }) => parent === box.id);

const hasInside = (drawing: Drawing, box: Box): boolean => childrenOf(drawing, box).length > 0;

const isWithin = (drawing: Drawing, id: string | null, ancestor: string): boolean => {
  if (id === null || id === ancestor) return id === ancestor;
  return isWithin(drawing, drawing.boxes.find((box) => box.id === id)?.parent ?? null, ancestor);
};

/** Characters that end a label, start markup or begin a comment, as Mermaid's own codes; what would turn the reading order stays out. */
const escape = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd')
    .replaceAll(/[^\p{L}\p{N} ._()[\],/→-]/gu, (char) => `#${char.codePointAt(0)};`);

const indented = (lines: readonly string[]): string[] => lines.map((text) => `  ${text}`);
