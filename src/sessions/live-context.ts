import type { ChartEvent } from '../machines/chart-event.ts';

/**
 * What an application gives to the tools of a session; may hold live objects, so it is never stored. What came with a message holds
 * for the turn that it begins (or steers), what the session was opened with for all others.
 */
export interface LiveContext {
  current(): unknown;
  setDefault(context: unknown): void;
  giveWith(messageId: string, context: unknown): void;
  hear(event: ChartEvent): void;
}

export const createLiveContext = (given: unknown): LiveContext => {
  const waiting = new Map<string, unknown>();
  let fallback = given;
  let turn: { number: number; context?: { value: unknown } } = { number: 0 };
  return {
    current: () => (turn.context === undefined ? fallback : turn.context.value),
    setDefault: (context) => {
      fallback = context;
    },
    giveWith: (messageId, context) => {
      waiting.set(messageId, context);
    },
    hear: (event) => {
      if (event.type !== 'message-fate') return;
      const { messageId, turn: number } = event;
      if (number !== undefined && number !== turn.number) turn = { number };
      if (number !== undefined && waiting.has(messageId)) turn = { number, context: { value: waiting.get(messageId) } };
      waiting.delete(messageId);
    },
  };
};
