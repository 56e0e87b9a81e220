import { keepInMemory } from '../stores/keep-in-memory.ts';
import { storeAt } from '../stores/store-at.ts';
import type { SessionKeeper } from '../stores/store.ts';
import { toldStore } from '../stores/told-store.ts';
import type { AgentOptions } from './agent-options.ts';

/** Where an agent keeps its sessions: in the store that was given, in the file of a path, else in its own memory. */
export const keeperOf = (given: AgentOptions['store']): SessionKeeper => {
  if (given === undefined) return keepInMemory();
  return typeof given === 'string' ? storeAt(given) : toldStore(given);
};
