import type { AnyActorRef, Snapshot } from 'xstate';

/**
 * Takes the effects of a session over where they are not to run in this process: each is run elsewhere, by `runEffect`, and what it came to is
 * brought back by `settleEffect`.
 */
export interface Executor {
  /** An effect has begun. `isRestored`: it was at work when the session was saved. */
  start(effect: AnyActorRef, isRestored: boolean): void;
  /** It is to give up; what it still says is heard. */
  abort(effect: AnyActorRef): void;
}

/** How an effect is run by somebody else than its own actor. */
export interface EffectRun {
  signal: AbortSignal;
  /** The work may have been under way before: what it had done by then is not known. */
  isRestored: boolean;
}

interface EffectActor {
  logic: { run?: (scope: object) => Promise<unknown> | undefined };
}

const logicOf = (actor: AnyActorRef): EffectActor['logic'] => (actor as unknown as EffectActor).logic;

const childrenOf = (actor: AnyActorRef): Record<string, AnyActorRef> =>
  (actor.getSnapshot() as { children?: Record<string, AnyActorRef> }).children ?? {};

const statusOf = (actor: AnyActorRef): string => (actor.getSnapshot() as Snapshot<unknown>).status;

/** The ids that lead from the root of a session to one of its actors. */
export const pathOf = (actor: AnyActorRef): string[] =>
  actor._parent === undefined ? [] : [...pathOf(actor._parent), actor.id];

/** The effects of a session that are at work, wherever in it they are. */
export const effectsIn = (actor: AnyActorRef): AnyActorRef[] =>
  Object.values(childrenOf(actor)).flatMap((child) => {
    if (logicOf(child).run === undefined) return effectsIn(child);
    return statusOf(child) === 'active' ? [child] : [];
  });

/** The effect at a path; undefined where none is at work there. */
export const effectAt = (root: AnyActorRef, path: readonly string[]): AnyActorRef | undefined => {
  let found: AnyActorRef | undefined = root;
  for (const id of path) {
    const children: Record<string, AnyActorRef> = found === undefined ? {} : childrenOf(found);
    found = Object.hasOwn(children, id) ? children[id] : undefined;
  }
  if (found === undefined || logicOf(found).run === undefined || statusOf(found) !== 'active') return undefined;
  return found;
};

/** Runs an effect whose session is at rest here: restored, and not started. What it came to is plain JSON, or undefined where there was nothing to do. */
export const runEffect = async (effect: AnyActorRef, { signal, isRestored }: EffectRun): Promise<unknown> =>
  logicOf(effect).run?.({
    input: (effect.getSnapshot() as { input?: unknown }).input,
    parent: effect._parent,
    self: effect,
    signal,
    isRestored,
  });

/** Gives an effect that ran elsewhere its outcome. */
export const settleEffect = (effect: AnyActorRef, output: unknown): void => {
  effect.send({ type: 'effect.settled', output });
};
