import { errorData } from '../../errors.ts';
import type { HistorySource, ListedSession } from '../history-source.ts';

/** ms between two looks. A store tells of commands and not of commits. */
const every = 400;

/** The newest sessions of a store, or why there are none. */
export interface StoreNews {
  sessions: readonly ListedSession[];
  error?: string;
}

export interface StoreWatch {
  /** What was seen last, and again whenever it changes. */
  subscribe(listener: (news: StoreNews) => void): () => void;
}

/** Looks at a store for as long as somebody listens. */
export const watchStore = ({ list }: HistorySource): StoreWatch => {
  const listeners = new Set<(news: StoreNews) => void>();
  let seen: { text: string; news: StoreNews } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLooking = false;

  const look = async (): Promise<void> => {
    const news = await list().then(
      (sessions): StoreNews => ({ sessions }),
      (error: unknown): StoreNews => ({ sessions: seen?.news.sessions ?? [], error: errorData(error).message }),
    );
    const text = JSON.stringify(news);
    if (text !== seen?.text) {
      seen = { text, news };
      for (const listener of listeners) listener(news);
    }
    isLooking = false;
    if (listeners.size > 0) timer = setTimeout(begin, every);
  };
  const begin = (): void => {
    clearTimeout(timer);
    if (isLooking) return;
    isLooking = true;
    void look();
  };

  return {
    subscribe: (listener) => {
      listeners.add(listener);
      if (seen !== undefined) listener(seen.news);
      if (listeners.size === 1) begin();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) clearTimeout(timer);
      };
    },
  };
};
