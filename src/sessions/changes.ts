import type { AgentError } from '../errors.ts';

/** Those who wait for something to become true of a session. */
export interface Changes {
  /** Resolves when `find` has something: asked at once, then after every change. Rejects when the session closes before. */
  until<T>(find: () => T | undefined): Promise<T>;
  /** Something has changed, or the session is over. */
  tell(): void;
  isWaitedFor(): boolean;
}

export interface ChangesOptions {
  isOver(): boolean;
  why(): AgentError;
}

export const createChanges = ({ isOver, why }: ChangesOptions): Changes => {
  const watchers = new Set<() => void>();
  return {
    until: <T>(find: () => T | undefined): Promise<T> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = find();
          if (found === undefined && !isOver()) return;
          watchers.delete(look);
          if (found === undefined) reject(why());
          else resolve(found);
        };
        watchers.add(look);
        look();
      }),
    tell: () => {
      for (const watcher of watchers) watcher();
    },
    isWaitedFor: () => watchers.size > 0,
  };
};
