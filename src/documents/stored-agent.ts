import type { StateValue } from 'xstate';
import type { Message } from '../messages/message.ts';
import type { Change } from './change.ts';

/**
 * The state of an agent as it is stored, without its id and its messages. What follows from something else is not written: which actors are at work
 * follows from `state`, what they were given from the context; where a value mostly equals another one, the change from that one stands
 * in its place. So no datum stands there twice.
 */
export interface StoredAgent {
  /** As XState writes it: `done`, or `{ done: 'answered' }`. */
  state: StateValue;
  /** The agent's context but for `sessionId` and `messages`; of an agent inside a call also without what its call gives it. */
  context: Record<string, unknown>;
  /** When the turn's deadline rings, in ms since 1970; absent where nothing works against one. */
  deadline?: number;
  /** The calls of the open round, by their ids. */
  calls?: Record<string, StoredCall>;
  /** What effects came to that nobody had taken yet, by the ids of their actors. */
  known?: Record<string, unknown>;
}

export interface StoredCall {
  state: StateValue;
  /** The call's context, as the change from what its round says of it; absent where it is that. */
  context?: Change;
  /** The agent inside the call, with its messages. */
  agent?: StoredAgent & { messages: Message[] };
  known?: Record<string, unknown>;
}
