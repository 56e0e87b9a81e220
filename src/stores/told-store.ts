import { storeError } from './store-error.ts';
import type { SessionKeeper } from './store.ts';

const place = 'the store';

/** What somebody's own store throws, as the `store-error` that whoever opens a session can expect. */
const told = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw storeError(place, error);
  }
};

/** Watching only makes things faster. What fails in it fails again, and is told, where somebody reads or commits. */
const quietly = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

const watchOf =
  (store: SessionKeeper): SessionKeeper['watch'] & {} =>
  (sessionId, notify) => {
    const end = quietly(() => store.watch?.(sessionId, notify));
    return () => quietly(() => end?.());
  };

/** The store, of which no failure is anything but an `AgentError`. What a commit throws is told by its session. */
export const toldStore = (store: SessionKeeper): SessionKeeper => ({
  durable: store.durable,
  read: (...given) => told(() => store.read(...given)),
  commit: (commit) => store.commit(commit),
  inbox: (sessionId) => told(() => store.inbox(sessionId)),
  delete: (sessionId) => told(() => store.delete(sessionId)),
  ...(store.watch === undefined ? {} : { watch: watchOf(store) }),
});
