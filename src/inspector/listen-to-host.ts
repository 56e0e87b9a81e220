import type { AnyActorRef } from 'xstate';
import { attachHost, ownHostOf } from '../actors/host.ts';
import type { ActorNotes } from './actor-notes.ts';
import type { DeltaTeller } from './delta-teller.ts';
import type { Told } from './protocol.ts';

/** What a chart says that its context does not. Calls, results and ends stand in the context. */
const worthTelling = new Set(['error', 'loop-suspected', 'message-fate', 'step-finish', 'approval-response']);

/**
 * Hears what a chart says, and the deltas of a session. Deltas are heard only where the application reads them: a model that is
 * asked whole stays asked whole, because looking must not change what is looked at.
 */
export const listenToHost = (
  actor: AnyActorRef,
  { session, key }: ActorNotes,
  tell: (told: Told) => void,
  deltas: DeltaTeller,
  guard: (where: string, work: () => void) => void,
): void => {
  actor.on('*', (event: { type: string }) =>
    guard('said', () => {
      if (worthTelling.has(event.type)) tell({ type: 'said', session, actor: key, what: event.type, data: event });
    }),
  );
  const host = ownHostOf(actor);
  if (host === undefined) return;
  const { audience } = host;
  attachHost(actor, {
    ...host,
    audience: {
      hasReaders: () => audience.hasReaders(),
      behind: () => audience.behind(),
      publish: (event) => {
        guard('delta', () => deltas.tell(session, event));
        audience.publish(event);
      },
    },
  });
};
