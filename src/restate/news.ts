import type { Line } from './audiences.ts';
import { readLines } from './read-lines.ts';

/** What a reader hears: from workers, of workers that it hears (again), from the engine, and why that says no more. */
export type News = Line | { type: 'opened' } | { type: 'engine'; revision: number } | { type: 'lost'; error: unknown };

export interface NewsFeed {
  /** Undefined where nothing came for so many ms. */
  next(patience?: number): Promise<News | undefined>;
  push(news: News): void;
  /** Resolves when all workers are heard, or have been waited for long enough. */
  ready: Promise<unknown>;
}

const longestPause = 2_000;
/** ms that a worker is waited for at first. */
const firstPatience = 1_000;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });

/** Listens to every worker, again where it was lost. */
export const createNewsFeed = (urls: readonly string[], signal: AbortSignal): NewsFeed => {
  const queue: News[] = [];
  let wake: (() => void) | undefined;
  const push = (news: News): void => {
    queue.push(news);
    wake?.();
  };
  const listen = async (url: string, opened: () => void): Promise<void> => {
    let wasOpen = false;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const lines = readLines(url, signal, () => {
          // What it told meanwhile is lost.
          if (wasOpen) push({ type: 'opened' });
          [wasOpen, attempt] = [true, 0];
          opened();
        });
        for await (const line of lines) push(line as Line);
      } catch {
        // Another try follows.
      }
      await pause(Math.min(longestPause, 50 * 2 ** attempt), signal);
    }
  };
  const opens = urls.map((url) => {
    const open = Promise.withResolvers<void>();
    void listen(url, open.resolve);
    return open.promise;
  });
  return {
    push,
    ready: Promise.race([Promise.all(opens), urls.length === 0 ? undefined : pause(firstPatience, signal)]),
    next: async (patience) => {
      if (queue.length === 0 && !signal.aborted) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        await (patience === undefined ? woken : Promise.race([woken, pause(patience, signal)]));
        wake = undefined;
      }
      return queue.shift();
    },
  };
};
