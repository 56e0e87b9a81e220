import type { AnyActorRef } from 'xstate';
import { type ErrorData, errorData } from '../errors.ts';
import { type EffectLogic, fromEffect } from './effect.ts';

export interface StopInput {
  sessionId: string;
}
export interface StopOutcome {
  stop: boolean;
  /** The question has no answer: the turn is not to go on as if its guard had said no. */
  error?: ErrorData;
}
export type StopLogic = EffectLogic<StopOutcome, StopInput>;

const unanswered = (thrown: unknown): StopOutcome => {
  const cause = errorData(thrown);
  return {
    stop: true,
    error: { name: 'StopWhenFailed', message: `option "stopWhen" failed: ${cause.message}`, cause },
  };
};

/** Asks the application after a round whether the turn is to end (R22). A question that fails ends it: a guard is never silently off. */
export const createStopLogic = (ask: (agent: AnyActorRef) => unknown): StopLogic =>
  fromEffect<StopOutcome, StopInput>(async ({ parent }) => {
    try {
      // A function that comes to its end has said nothing.
      const stop = (parent === undefined ? undefined : await ask(parent)) ?? false;
      if (typeof stop === 'boolean') return { stop };
      throw new TypeError(`it must give true or false, gave ${typeof stop}`);
    } catch (error) {
      return unanswered(error);
    }
  });
