import { type AnyActorRef, type CallbackActorLogic, fromCallback } from 'xstate';
import type { ErrorData } from '../errors.ts';

/** What came of telling of a turn that it is over. */
export interface Told {
  turn: number;
  /** With a history provider: how many messages of the session it has now, counted from the first of all. */
  handed?: number;
  errors: ErrorData[];
}

/** Tells whoever wants to know that the agent's turn is over; undefined where nobody is left to be told. Never rejects. */
export type TellTurn = (agent: AnyActorRef) => Promise<Told> | undefined;

export type WakeLogic = CallbackActorLogic<{ type: 'turn.ended' }>;

/**
 * Says once, whenever its session starts or is restored, that it is awake. A session may have been saved between a call's report and
 * its round's hearing it; the round then asks all of its calls to report again. It may also have been saved before everybody was told
 * that a turn is over: they are told now.
 */
export const createWakeLogic = (tell: TellTurn): WakeLogic =>
  fromCallback(({ sendBack, receive, self }) => {
    sendBack({ type: 'session.woken' });
    const tellAll = (): void => {
      const agent = self._parent;
      void (agent === undefined ? undefined : tell(agent))?.then((told) => sendBack({ type: 'turn.told', ...told }));
    };
    receive(tellAll);
    tellAll();
  });
