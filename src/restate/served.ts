import type { Inspector } from '../sessions/session.ts';
import type { AgentParts } from '../sessions/agent-parts.ts';
import type { Audiences } from './audiences.ts';
import type { KnownSessions } from './known-sessions.ts';

/** What a worker serves one agent's sessions with. */
export interface Served {
  parts: AgentParts;
  sessions: KnownSessions;
  /** ms that an effect may take before the engine may think that nothing goes on. */
  patience: number;
  inspect: Inspector | undefined;
  audiences: Audiences;
  /** The tenant's; undefined where there are no tenants, or several. */
  key: string | undefined;
}
