export { chartOf, type Chart, type ChartEdge, type ChartInvoke, type ChartNode } from './chart.ts';
export { chartToMermaid, type ChartToMermaidOptions } from './chart-to-mermaid.ts';
export { chartToSvg, type ChartToSvgOptions } from './chart-to-svg.ts';
