import type { ChartEvent } from '../machines/chart-event.ts';
import type { ChatModel } from '../models/chat-model.ts';

/** What may come with a message and cannot be stored. */
export interface LiveObjects {
  /** For the tools; may hold anything. */
  context?: unknown;
  /** Asked in place of the agent's own. */
  model?: ChatModel | undefined;
}

/** Those of the turn under way, and those of the turns to come. */
export interface KeptObjects {
  fallback: unknown;
  turn: { number: number; objects: LiveObjects };
}

/**
 * The live objects of a session: what came with a message holds for the turn that the message begins (or steers), the context with which
 * the session was opened for all other turns.
 */
export interface LiveObjectsOfTurns {
  context(): unknown;
  model(): ChatModel | undefined;
  setContext(context: unknown): void;
  /** Takes of what comes with a message what is meant for its turn. */
  giveWith(messageId: string, given: LiveObjects): void;
  hear(event: ChartEvent): void;
  /** What they are made from again; undefined while some wait for their message to be read. */
  kept(): KeptObjects | undefined;
}

const none: LiveObjects = {};

const liveOf = (given: LiveObjects): LiveObjects => {
  const { model } = given;
  if (!('context' in given)) return model === undefined ? none : { model };
  return { context: given.context, ...(model === undefined ? {} : { model }) };
};

/** Of a session to which nothing was given. */
export const noObjects: KeptObjects = { fallback: undefined, turn: { number: 0, objects: none } };

export const createLiveObjects = (start: KeptObjects): LiveObjectsOfTurns => {
  let waiting: Map<string, LiveObjects> | undefined;
  let { fallback, turn } = start;
  return {
    context: () => ('context' in turn.objects ? turn.objects.context : fallback),
    model: () => turn.objects.model,
    setContext: (given) => {
      fallback = given;
    },
    giveWith: (messageId, given) => {
      waiting ??= new Map();
      waiting.set(messageId, liveOf(given));
    },
    hear: (event) => {
      if (event.type !== 'message-fate') return;
      const { messageId, turn: number } = event;
      const given = waiting?.get(messageId);
      waiting?.delete(messageId);
      if (number === undefined) return;
      const before = number === turn.number ? turn.objects : none;
      turn = { number, objects: given === undefined || given === none ? before : { ...before, ...given } };
    },
    kept: () => {
      if (waiting !== undefined && waiting.size > 0) return undefined;
      return fallback === undefined && Object.keys(turn.objects).length === 0 ? noObjects : { fallback, turn };
    },
  };
};
