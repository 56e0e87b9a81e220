import type { AnyActorRef } from 'xstate';
import { createOwnSlot } from '../actors/own-slot.ts';
import type { Viewer } from '../messages/view.ts';

const viewers = createOwnSlot<Viewer | undefined>('viewer');

/** The viewer of an agent's history: what was sent before is not made anew. */
export const viewerOf = (agent: AnyActorRef, make: () => Viewer): Viewer => {
  const known = viewers.of(agent);
  if (known !== undefined) return known;
  const made = make();
  viewers.put(agent, made);
  return made;
};

/** An agent that waits for somebody keeps no view of its history meanwhile. */
export const forgetViewer = (agent: AnyActorRef): void => {
  if (viewers.of(agent) !== undefined) viewers.put(agent, undefined);
};
