/** The part of dagre in use: its own types import files without extensions, which Node's module resolution does not find. */
declare module '@dagrejs/dagre' {
  interface Placed {
    x: number;
    y: number;
    width: number;
    height: number;
  }

  export class Graph {
    constructor(options: { multigraph: boolean });
    setGraph(options: { rankdir: 'TB'; nodesep: number; edgesep: number; ranksep: number }): void;
    setDefaultEdgeLabel(create: () => object): void;
    setNode(id: string, size: { width: number; height: number }): void;
    setEdge(
      from: string,
      to: string,
      options: { weight: number; width?: number; height?: number; labelpos?: 'c' },
      name?: string,
    ): void;
    node(id: string): Placed;
    edge(from: string, to: string, name: string): Placed & { points: { x: number; y: number }[] };
  }

  /** Writes the places into the graph. */
  export const layout: (graph: Graph) => void;
}
