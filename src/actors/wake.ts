import { type AnyActorRef, type CallbackActorLogic, type EventObject, fromCallback } from 'xstate';
import type { ErrorData } from '../errors.ts';
import { hostOf } from './host.ts';

/** What came of telling of a turn that it is over. */
export interface Told {
  turn: number;
  /** With a history provider: how many messages of the session it has now, counted from the first of all. */
  handed?: number;
  errors: ErrorData[];
}

/** Tells whoever wants to know that the agent's turn is over; undefined where nobody is left to be told. Never rejects. */
export type TellTurn = (agent: AnyActorRef) => Promise<Told> | undefined;

export type WakeEvent = { type: 'turn.ended' } | { type: 'effect.settled'; output: Told | undefined };

/** As an effect it tells of the turn that is over, where effects are run by somebody else. */
export interface WakeLogic extends CallbackActorLogic<WakeEvent> {
  run(scope: { parent: AnyActorRef | undefined }): Promise<Told> | undefined;
}

const isUntold = (agent: AnyActorRef): boolean =>
  (agent.getSnapshot() as { context: { turn: { untold?: boolean } } }).context.turn.untold === true;

/**
 * Says once, whenever its session starts or is restored, that it is awake. A session may have been saved between a call's report and
 * its round's hearing it; the round then asks all of its calls to report again. It may also have been saved before everybody was told
 * that a turn is over: they are told now. A session whose effects run elsewhere is saved only when all of it has been heard.
 */
export const createWakeLogic = (tell: TellTurn): WakeLogic => ({
  ...fromCallback<EventObject & WakeEvent>(({ sendBack, receive, self }) => {
    const agent = self._parent;
    const { executor } = hostOf(self);
    const tellAll = (isRestored: boolean): void => {
      if (agent === undefined) return;
      if (executor === undefined) void tell(agent)?.then((told) => sendBack({ type: 'turn.told', ...told }));
      else if (isUntold(agent)) executor.start(self, isRestored);
    };
    receive((event) => {
      if (event.type === 'turn.ended') tellAll(false);
      else if (event.output !== undefined) sendBack({ type: 'turn.told', ...event.output });
    });
    if (executor === undefined) sendBack({ type: 'session.woken' });
    tellAll(true);
  }),
  run: ({ parent }) => (parent === undefined ? undefined : tell(parent)),
});
