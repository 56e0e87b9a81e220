import type { Chart, ChartEdge, ChartNode } from './chart.ts';

/** One step as a store keeps it: state paths such as `thinking.asking`. */
export interface PathStep {
  from: string;
  to: string;
  event: string;
}

/** The part of a chart that was walked, for a session whose machine is not at hand. */
export const seenChart = (id: string, steps: readonly PathStep[]): Chart => {
  const root: ChartNode = {
    id,
    key: id,
    type: 'compound',
    parent: null,
    initial: null,
    invokes: [],
    tags: [],
    description: null,
  };
  const nodes = new Map([[id, root]]);
  const edges = new Map<string, ChartEdge>();
  const add = (path: string): string => {
    let parent = id;
    for (const key of path.split('.')) {
      const own = `${parent}.${key}`;
      const holder = nodes.get(parent);
      if (holder?.type === 'atomic') nodes.set(parent, { ...holder, type: 'compound' });
      if (!nodes.has(own)) nodes.set(own, { ...root, id: own, key, type: 'atomic', parent });
      parent = own;
    }
    return parent;
  };
  for (const { from, to, event } of steps) {
    const [source, target] = [add(from), add(to)];
    const key = `${source}|${event}|${target}`;
    edges.set(key, {
      id: key,
      source,
      target,
      event,
      kind: 'on',
      label: event.replace(/^xstate\.done\.actor\./, 'done: '),
      guard: null,
      internal: false,
      actions: [],
      description: null,
    });
  }
  return { id, nodes: [...nodes.values()], edges: [...edges.values()] };
};

/** The transitions of a chart that a step may have been: those that go that way, on that event where there are any. Guards may be several. */
export const edgesFor = (chart: Chart, { from, to, event }: PathStep): string[] => {
  const [source, target] = [`${chart.id}.${from}`, `${chart.id}.${to}`];
  const leaves = (id: string): boolean => source === id || source.startsWith(`${id}.`) || id === chart.id;
  const enters = (id: string | null): boolean => id !== null && (target === id || target.startsWith(`${id}.`));
  const fits = chart.edges
    .filter((edge) => leaves(edge.source) && enters(edge.target))
    .toSorted((a, b) => b.source.length + (b.target?.length ?? 0) - a.source.length - (a.target?.length ?? 0));
  const best = fits.find((edge) => edge.event === event) ?? fits.find((edge) => edge.event === '') ?? fits[0];
  return fits
    .filter(({ source: by, target: at, event: on }) => by === best?.source && at === best.target && on === best.event)
    .map(({ id }) => id);
};
