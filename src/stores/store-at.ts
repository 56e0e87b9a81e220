import { noSqlite } from './sqlite-missing.ts';
import type { SessionStore } from './store.ts';

/**
 * The SQLite store of a path. What it needs is loaded when it is first used, so that whoever gives no path never loads it; a bundle for
 * browsers does without it (`imports` in package.json).
 */
export const storeAt = (path: string): SessionStore => {
  let opening: Promise<SessionStore> | undefined;
  const opened = (): Promise<SessionStore> => {
    opening ??= import('#sqlite-store').then(({ sqliteStore }: { sqliteStore?: (path: string) => SessionStore }) => {
      if (sqliteStore === undefined) throw noSqlite();
      return sqliteStore(path);
    });
    return opening;
  };
  return {
    durable: true,
    read: async (...given) => (await opened()).read(...given),
    commit: async (...given) => (await opened()).commit(...given),
    history: async (...given) => (await opened()).history(...given),
    list: async (...given) => (await opened()).list(...given),
    delete: async (...given) => (await opened()).delete(...given),
    deleteBefore: async (...given) => (await opened()).deleteBefore(...given),
    post: async (...given) => (await opened()).post(...given),
    inbox: async (...given) => (await opened()).inbox(...given),
    refusals: async (...given) => (await opened()).refusals(...given),
    lastCommand: async () => (await opened()).lastCommand?.(),
    watch: (sessionId, notify) => {
      let end: (() => void) | undefined;
      let isOver = false;
      opened().then(
        (store) => {
          if (!isOver) end = store.watch?.(sessionId, notify);
        },
        // Whoever reads or commits is told.
        () => undefined,
      );
      return () => {
        isOver = true;
        end?.();
      };
    },
    close: async () => (await opening)?.close(),
  };
};
