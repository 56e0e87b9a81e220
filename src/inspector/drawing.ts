import type { Chart, ChartEdge, ChartNode } from './chart.ts';
import type { Size } from './layers.ts';

/**
 * A chart as boxes and arrows, for any way to draw it. An arrow never goes from a box to its own ancestor, and one that goes
 * from a composite to its inside (`inside`) holds for all states of the composite.
 */
export interface Drawing {
  /** In document order: a parent before its children. */
  boxes: Box[];
  arrows: Arrow[];
  /** Between two rows, at least; 48 when left out. */
  gap?: number;
}

export interface Box {
  id: string;
  kind: 'state' | 'composite' | 'parallel' | 'final' | 'history';
  name: string;
  /** `null` for the root. */
  parent: string | null;
  /** What happens inside: invoked actors, transitions that go nowhere. */
  lines: string[];
  description: string | null;
  /** Of a box whose inside is drawn by somebody else, or of the head of a composite; else what its texts need. */
  size?: Size;
}

/** All transitions from one box to another. */
export interface Arrow {
  kind: 'initial' | 'inside' | 'between';
  from: string;
  to: string;
  /** Ids of the chart's edges; empty for `initial`. */
  edges: string[];
  /** `event [guard]`, one for each transition that has a word to show. */
  lines: string[];
}

export interface DrawingOptions {
  /** Also tell transitions that go nowhere, as lines in their state. Default `true`. */
  internal?: boolean;
}

export const drawingOf = (chart: Chart, { internal = true }: DrawingOptions = {}): Drawing => {
  const tree = treeOf(chart);
  const initial = chart.nodes.flatMap((node): Arrow[] =>
    node.type === 'compound' && node.initial !== null
      ? [{ kind: 'initial', from: node.id, to: node.initial, edges: [], lines: [] }]
      : [],
  );
  const arrows = new Map<string, Arrow>();
  for (const edge of chart.edges) {
    if (edge.target === null) continue;
    const to = entryOf(tree, edge.source, edge.target);
    const kind = tree.hasInside(edge.source) && tree.within(to, edge.source) ? 'inside' : 'between';
    const key = JSON.stringify([edge.source, to]);
    const arrow = arrows.get(key) ?? { kind, from: edge.source, to, edges: [], lines: [] };
    const line = lineOf(chart, edge);
    arrow.edges.push(edge.id);
    if (line !== '' && !arrow.lines.includes(line)) arrow.lines.push(line);
    arrows.set(key, arrow);
  }
  return { boxes: chart.nodes.map((node) => toBox(chart, node, internal)), arrows: [...initial, ...arrows.values()] };
};

/** To enter a composite from its own inside means to start it again. */
const entryOf = (tree: Tree, source: string, target: string): string =>
  tree.hasInside(target) && tree.within(source, target) ? entryOf(tree, source, tree.firstOf(target)) : target;

const kinds = {
  atomic: 'state',
  compound: 'composite',
  parallel: 'parallel',
  final: 'final',
  history: 'history',
  'deep-history': 'history',
} as const satisfies Record<ChartNode['type'], Box['kind']>;

const toBox = (chart: Chart, node: ChartNode, internal: boolean): Box => ({
  id: node.id,
  kind: kinds[node.type],
  name: node.type === 'history' ? 'H' : node.type === 'deep-history' ? 'H*' : node.key,
  parent: node.parent,
  lines: [...invokesOf(node), ...(internal ? internalOf(chart, node) : [])],
  description: node.description,
});

const invokesOf = ({ invokes }: ChartNode): string[] =>
  invokes.map(({ id, src }) => {
    if (src === null) return 'invoke inline';
    return src === id || /^\d+\./.test(id) ? `invoke ${src}` : `invoke ${id}: ${src}`;
  });

const internalOf = (chart: Chart, node: ChartNode): string[] => {
  const edges = chart.edges.filter(({ source, target }) => source === node.id && target === null);
  const lines = edges.map(
    (edge) => `${lineOf(chart, edge)} / ${edge.kind === 'forbidden' ? 'nothing' : edge.actions.join(', ')}`,
  );
  return [...new Set(lines)];
};

const lineOf = (chart: Chart, edge: ChartEdge): string => {
  const tried = chart.edges.filter(({ source, event }) => source === edge.source && event === edge.event);
  const guard = edge.guard ?? (tried.some((other) => other.guard !== null) ? 'else' : null);
  return [edge.label, ...(guard === null ? [] : [`[${guard}]`])].filter((word) => word !== '').join(' ');
};

interface Tree {
  hasInside(id: string): boolean;
  /** True for the node itself and for what is below it. */
  within(id: string, ancestor: string): boolean;
  /** Where a composite starts; the node itself when it has no inside. */
  firstOf(id: string): string;
}

const treeOf = (chart: Chart): Tree => {
  const nodes = new Map(chart.nodes.map((node) => [node.id, node]));
  const firstChildren = new Map(chart.nodes.toReversed().map(({ id, parent }) => [parent, id]));
  const within = (id: string | null | undefined, ancestor: string): boolean =>
    id === ancestor || (typeof id === 'string' && within(nodes.get(id)?.parent, ancestor));
  return {
    hasInside: (id) => firstChildren.has(id),
    within,
    firstOf: (id) => nodes.get(id)?.initial ?? firstChildren.get(id) ?? id,
  };
};
