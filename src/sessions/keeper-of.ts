import { type Kept, keepInMemory } from '../stores/keep-in-memory.ts';
import { storeAt } from '../stores/store-at.ts';
import type { SessionKeeper } from '../stores/store.ts';
import { toldStore } from '../stores/told-store.ts';
import type { AgentOptions } from './agent-options.ts';

/** `forget` lets go of all sessions, where the agent alone has them. */
export interface AgentKeeper extends SessionKeeper {
  forget?(): void;
}

/** Where an agent keeps its sessions: in the store that was given, in the file of a path, else in its own memory. */
export const keeperOf = (given: AgentOptions['store']): AgentKeeper => {
  if (given === undefined) {
    const sessions = new Map<string, Kept>();
    return { ...keepInMemory(sessions), forget: () => sessions.clear() };
  }
  return typeof given === 'string' ? storeAt(given) : toldStore(given);
};
