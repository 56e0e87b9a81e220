import type { AnyActorRef } from 'xstate';
import { type EffectLogic, fromEffect } from './effect.ts';

export interface StopInput {
  sessionId: string;
}
export interface StopOutcome {
  stop: boolean;
}
export type StopLogic = EffectLogic<StopOutcome, StopInput>;

/** Asks the application after a round whether the turn is to end (R22). A question that fails means no. */
export const createStopLogic = (ask: (agent: AnyActorRef) => boolean | Promise<boolean>): StopLogic =>
  fromEffect<StopOutcome, StopInput>(async ({ parent }) => {
    try {
      return { stop: parent !== undefined && (await ask(parent)) };
    } catch {
      return { stop: false };
    }
  });
