import { useEffect, useState } from 'preact/hooks';
import type { ViewState } from '../view-state.ts';
import { useStore } from './use-store.ts';

/** ms that a state is lit at least, and that all which happened at once may take. */
const perStep = 70;
const atMost = 700;
/** Of more only the last ones are played. */
const maxSteps = 24;

const isStill = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/**
 * The view that the chart shows: states that are left within a millisecond light up one after the other. It is never long behind, and
 * the past, a long log that comes in, and whoever wants no motion get the moment itself.
 */
export const usePlayback = (actor: string | undefined): ViewState => {
  const store = useStore();
  const { entries, sessionId, isLive, isLoaded, pastPart } = store;
  const last = entries.length - 1;
  const [played, setPlayed] = useState({ session: sessionId, at: last });
  const isFollowing = isLive && isLoaded && pastPart === 1 && played.session === sessionId && !isStill();
  const at = isFollowing ? Math.max(played.at, last - maxSteps) : last;

  useEffect(() => {
    if (at >= last) {
      if (played.at !== last || played.session !== sessionId) setPlayed({ session: sessionId, at: last });
      return;
    }
    let next = at + 1;
    // Of other actors there is nothing to see in this chart.
    while (next < last && (entries[next]?.kind !== 'step' || entries[next]?.actor !== actor)) next += 1;
    const timer = setTimeout(
      () => setPlayed({ session: sessionId, at: next }),
      Math.min(perStep, atMost / (last - at)),
    );
    return () => clearTimeout(timer);
  }, [at, last, sessionId, actor, played]);

  return at >= last ? store.view : store.viewAfter(at);
};
