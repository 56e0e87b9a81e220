import type { SessionKeeper } from '../stores/store.ts';
import type { AgentOptions } from './agent-options.ts';
import { type Workings, loadWorkings, workings } from './load-workings.ts';

/** Where an agent keeps its sessions: in the store that was given, in the file of a path, else in its own memory. It is opened when somebody first asks for it. */
export const lateKeeper = (given: AgentOptions['store']): SessionKeeper => {
  let keeper: SessionKeeper | undefined;
  const made = ({ keepInMemory, storeAt, toldStore }: Workings): SessionKeeper =>
    (keeper ??= given === undefined ? keepInMemory() : typeof given === 'string' ? storeAt(given) : toldStore(given));
  const opened = async (): Promise<SessionKeeper> => keeper ?? made(workings() ?? (await loadWorkings()));
  const own: SessionKeeper = {
    durable: typeof given === 'string' || given?.durable === true,
    read: async (...given) => (await opened()).read(...given),
    commit: async (...given) => (await opened()).commit(...given),
    delete: async (...given) => (await opened()).delete(...given),
    inbox: async (...given) => (await opened()).inbox(...given),
  };
  if (given === undefined || (typeof given === 'object' && given.watch === undefined)) return own;
  return {
    ...own,
    watch: (...given) => {
      const loaded = workings();
      // Whoever watches an inbox has loaded it.
      return (loaded === undefined ? undefined : made(loaded).watch?.(...given)) ?? (() => undefined);
    },
  };
};
