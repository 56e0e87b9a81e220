export * from './browser.ts';
export { inspectRecording, type InspectRecordingOptions } from './server/inspect-recording.ts';
export { openRecording } from './server/recording-file.ts';
export { startInspector, type Inspector, type InspectorOptions } from './server/start-inspector.ts';
export { followInTerminal, type TerminalOptions } from './server/follow-in-terminal.ts';
