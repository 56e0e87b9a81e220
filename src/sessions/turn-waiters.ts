import { AgentError } from '../errors.ts';
import type { ChartEvent, Fate } from '../machines/chart-event.ts';
import type { TurnResult } from '../machines/turn-result.ts';

/** A message on its way: what became of it, and what its turn came to. */
export interface Posted {
  fate: Promise<Fate>;
  /** Rejects where the message was refused. Of a message that was discarded, `stopped`. */
  result: Promise<TurnResult>;
}

/** Joins messages to their turns by what the chart says of them. */
export interface TurnWaiters {
  expect(messageId: string): Posted;
  /** The message's turn has begun and is not over. */
  isUnderWay(messageId: string): boolean;
  hear(event: ChartEvent): void;
  /** The session waits for somebody: whoever waits for a turn gets what there is so far; whoever waits for one to begin, what it waits for. */
  pause(turn: number, result: TurnResult): void;
  /** Whoever waits is told; the error is made where somebody does. */
  fail(error: () => AgentError): void;
}

interface Waiter {
  turn?: number;
  setFate(fate: Fate): void;
  setResult(result: TurnResult): void;
  fail(error: AgentError): void;
}

/** Of a message that did not get in. Whoever does not await it is not told, and his process goes on. */
export const refusedFate = (error: Error): Promise<Fate> => {
  const refused = Promise.reject<Fate>(error);
  refused.catch(() => undefined);
  return refused;
};

/** Of a message that waits behind calls of another turn: what waits, and nothing of what that turn has said and used. */
const unread = ({ outcome, pending, sessionId }: TurnResult): TurnResult => ({
  outcome,
  text: '',
  messages: [],
  pending,
  usage: {},
  modelCalls: [],
  iterations: 0,
  sessionId,
});

export const createTurnWaiters = (soFar: () => TurnResult): TurnWaiters => {
  const waiters = new Map<string, Waiter>();
  return {
    expect: (messageId) => {
      const fate = Promise.withResolvers<Fate>();
      const result = Promise.withResolvers<TurnResult>();
      // Most callers await one of the two.
      fate.promise.catch(() => undefined);
      result.promise.catch(() => undefined);
      waiters.set(messageId, {
        setFate: fate.resolve,
        setResult: result.resolve,
        fail: (error) => {
          fate.reject(error);
          result.reject(error);
        },
      });
      return { fate: fate.promise, result: result.promise };
    },
    isUnderWay: (messageId) => waiters.get(messageId)?.turn !== undefined,
    hear: (event) => {
      if (event.type === 'finish') {
        for (const [id, waiter] of waiters) {
          // What is queued behind a failed turn stays there until somebody retries or sends a message: its caller is told.
          if (waiter.turn === undefined && event.result.outcome.type === 'failed') waiter.setResult(event.result);
          if (waiter.turn !== event.turn) continue;
          waiters.delete(id);
          waiter.setResult(event.result);
        }
      }
      if (event.type !== 'message-fate') return;
      const { messageId, fate, turn } = event;
      const waiter = waiters.get(messageId);
      if (waiter === undefined) return;
      waiter.setFate(fate);
      if (fate.type === 'delivered' && turn !== undefined) {
        waiter.turn = turn;
        return;
      }
      waiters.delete(messageId);
      if (fate.type === 'discarded')
        waiter.setResult({ ...soFar(), outcome: { type: 'stopped', reason: fate.reason } });
      if (fate.type === 'refused') {
        waiter.fail(
          new AgentError('session-busy', `the message was refused: ${fate.reason}; decide first, then send it again`),
        );
      }
    },
    pause: (turn, result) => {
      for (const waiter of waiters.values()) {
        if (waiter.turn === undefined) waiter.setResult(unread(result));
        else if (waiter.turn === turn) waiter.setResult(result);
      }
    },
    fail: (error) => {
      if (waiters.size === 0) return;
      const why = error();
      for (const waiter of waiters.values()) waiter.fail(why);
      waiters.clear();
    },
  };
};
