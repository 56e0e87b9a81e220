import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { PageStore } from './page-store.ts';

export const StoreContext = createContext<PageStore | undefined>(undefined);

/** The store; whoever calls this is drawn again when it changes. */
export const useStore = (): PageStore => {
  const store = useContext(StoreContext);
  if (store === undefined) throw new Error('there is no store');
  const [, draw] = useState(0);
  useEffect(() => store.subscribe(() => draw((count) => count + 1)), [store]);
  return store;
};

/** ms since 1970, anew every so many ms while `isRunning`. */
export const useNow = (isRunning: boolean, every = 250): number => {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [isRunning, every]);
  return isRunning ? Math.max(now, Date.now()) : now;
};
