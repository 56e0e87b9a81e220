import type { AnyActorRef } from 'xstate';

/** What is kept with the turn that an actor works for. The turn of an agent inside a call has that of the turn above. */
export const metadataOf = (self: AnyActorRef): Readonly<Record<string, string>> => {
  let found: Readonly<Record<string, string>> = {};
  for (let actor: AnyActorRef | undefined = self; actor !== undefined; actor = actor._parent) {
    const { context } = actor.getSnapshot() as { context?: { turn?: { options?: { metadata?: typeof found } } } };
    found = context?.turn?.options?.metadata ?? found;
  }
  return found;
};
