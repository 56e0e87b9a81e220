import type { Place } from './known-sessions.ts';

/** An effect that is to be run, and the commit that asks for it. */
export interface Work extends Place {
  /** Of the session's object. */
  key: string;
  path: string[];
  id: string;
  isRestored: boolean;
  isOnce: boolean;
  /** How often no version of the agent was there that can take the session up. */
  tries?: number;
}
