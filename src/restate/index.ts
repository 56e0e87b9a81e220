export { type RestateWorker, type RestateWorkerOptions, restateWorker } from './restate-worker.ts';
export { type RestateSessions, type RestateSessionsOptions, restateSessions } from './restate-sessions.ts';
export type { CommandOptions, RemoteSession } from './remote-session.ts';
