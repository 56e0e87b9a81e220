export { type RestateWorker, type RestateWorkerOptions, restateWorker } from './restate-worker.ts';
export { type RestateSessions, type RestateSessionsOptions, restateSessions } from './restate-sessions.ts';
export { type FollowOptions, type Following, followWorkers } from './follow-workers.ts';
export type { WorkerRecorder } from './worker-recorder.ts';
export type { CommandOptions, RemoteSession } from './remote-session.ts';
