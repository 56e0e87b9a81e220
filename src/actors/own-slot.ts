import type { AnyActorRef } from 'xstate';

/** One value of ours beside an actor; it is no part of the actor's data. */
export interface OwnSlot<T> {
  of(actor: AnyActorRef): T | undefined;
  put(actor: AnyActorRef, value: T): void;
}

/**
 * Not a WeakMap: what we keep leads back to its actor, and such an entry goes only when the whole heap is collected. Until then a session that
 * is over is copied from one space of the heap to the next, with all that was said in it.
 */
export const createOwnSlot = <T>(name: string): OwnSlot<T> => {
  const key = Symbol(name);
  return {
    of: (actor) => (actor as unknown as { [slot: symbol]: T | undefined })[key],
    put: (actor, value) => {
      Object.defineProperty(actor, key, { value, writable: true, configurable: true });
    },
  };
};
