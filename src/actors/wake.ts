import { type CallbackActorLogic, fromCallback } from 'xstate';

export type WakeLogic = CallbackActorLogic<{ type: 'wake' }>;

/**
 * Says once, whenever its session starts or is restored, that it is awake. A session may have been saved between a call's report and
 * its round's hearing it; the round then asks all of its calls to report again.
 */
export const wakeLogic: WakeLogic = fromCallback(({ sendBack }) => {
  sendBack({ type: 'session.woken' });
});
