import type { SessionKeeper } from '../stores/store.ts';
import { loadWorkings, workings } from './load-workings.ts';

/** The memory of an agent without a store; there is none before somebody asks for it. */
export const keepLate = (): SessionKeeper & { durable: false } => {
  let keeper: SessionKeeper | undefined;
  const opened = (): SessionKeeper | Promise<SessionKeeper> => {
    keeper ??= workings()?.keepInMemory();
    return keeper ?? loadWorkings().then(({ keepInMemory }) => (keeper ??= keepInMemory()));
  };
  return {
    durable: false,
    read: async (...given) => (await opened()).read(...given),
    commit: async (...given) => (await opened()).commit(...given),
    delete: async (...given) => (await opened()).delete(...given),
    inbox: async (...given) => (await opened()).inbox(...given),
  };
};
