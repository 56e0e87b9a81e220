import type { EffectLogic, EffectSnapshot } from '../../actors/effect.ts';

/** What a scripted effect remembers of what it was told. */
interface Told {
  /** It was told to give up. */
  aborted?: true;
  /** An agent inside a call got a decision, a stop or a cancel since it last said that it waits. */
  heard?: true;
  /** An agent inside a call is asked what it has used when its call is cut off. */
  context?: { turn: { usage: object } };
}

/** In place of an effect: it does nothing, and ends with what it is told to end with. */
export const scriptedEffect = <TOutput, TInput>(told: Told = {}): EffectLogic<TOutput, TInput> => ({
  getInitialSnapshot: (_, input) => ({ status: 'active', output: undefined, error: undefined, input, ...told }),
  transition: (snapshot, event) => {
    if (snapshot.status !== 'active') return snapshot;
    switch (event.type) {
      case 'effect.settled':
        return { ...snapshot, status: 'done', output: event.output, error: undefined };
      case 'effect.failed':
        return { ...snapshot, status: 'error', output: undefined, error: event.error };
      case 'effect.abort':
        return { ...snapshot, aborted: true };
      case 'xstate.stop':
        return { ...snapshot, status: 'stopped', output: undefined, error: undefined };
      default:
        event satisfies never;
        return { ...(snapshot as EffectSnapshot<TOutput, TInput>), heard: true };
    }
  },
  getPersistedSnapshot: (snapshot) => snapshot,
  restoreSnapshot: (stored) => stored as EffectSnapshot<TOutput, TInput>,
});

export const toldOf = (snapshot: unknown): Told => snapshot as Told;
