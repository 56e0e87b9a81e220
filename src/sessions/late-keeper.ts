import type { SessionKeeper } from '../stores/store.ts';
import type { AgentOptions } from './agent-options.ts';
import { type Workings, loadWorkings, workings } from './load-workings.ts';

/** Where an agent keeps its sessions: in the store that was given, in the file of a path, else in its own memory. It is opened when somebody first asks for it. */
export const lateKeeper = (given: AgentOptions['store']): SessionKeeper => {
  let keeper: SessionKeeper | undefined;
  const made = ({ keepInMemory, storeAt, toldStore }: Workings): SessionKeeper =>
    (keeper ??= given === undefined ? keepInMemory() : typeof given === 'string' ? storeAt(given) : toldStore(given));
  /** At once where it can be: a commit must be handed over in the moment in which it was made. */
  const use = async <T>(work: (opened: SessionKeeper) => Promise<T>): Promise<T> =>
    work(keeper ?? made(workings() ?? (await loadWorkings())));
  const own: SessionKeeper = {
    durable: typeof given === 'string' || given?.durable === true,
    read: (...asked) => use((opened) => opened.read(...asked)),
    commit: (...asked) => use((opened) => opened.commit(...asked)),
    delete: (...asked) => use((opened) => opened.delete(...asked)),
    inbox: (...asked) => use((opened) => opened.inbox(...asked)),
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
