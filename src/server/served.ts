import type { Agent } from '../sessions/agent.ts';
import type { Access } from './access.ts';

/** A request that may be served: who asks, and for what. */
export interface Served {
  agent: Agent;
  request: Request;
  access: Access;
  /** As the client calls it. */
  sessionId: string;
  /** '' where the path names no call. */
  callId: string;
  maxBodyBytes: number;
}
