// What `agentchart/inspector` is in a browser: all of it but the server.
export { chartOf, type Chart, type ChartEdge, type ChartInvoke, type ChartNode } from './chart.ts';
export { chartToMermaid, type ChartToMermaidOptions } from './chart-to-mermaid.ts';
export { chartToSvg, type ChartToSvgOptions } from './chart-to-svg.ts';
export { createEventLog, type EventLog, type EventLogOptions } from './event-log.ts';
export type { HistorySource, InspectedStore, ListedSession } from './history-source.ts';
export type { InspectedAgent, InspectedSession } from './inspected-agent.ts';
export { protocolVersion, type AgentInfo, type Hello, type ProtocolEvent, type ToolInfo } from './protocol.ts';
export { createRecorder, type Recorder } from './recorder.ts';
export { readRecording, type Recording } from './recording.ts';
export { storeHistory } from './store-history.ts';
export { emptyView, reduceView, type ActorView, type SessionView, type ViewState } from './view-state.ts';
