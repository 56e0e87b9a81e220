import { AgentError } from '../errors.ts';
import type { ChatModel } from './chat-model.ts';

/**
 * Stands around every model call: it takes the next model and gives one of its own, most simply `{ ...next, generate }`. It may change
 * the request or the reply, answer itself, or ask again. One that gives no `stream` is asked whole.
 */
export type ModelMiddleware = (next: ChatModel) => ChatModel;

/** In list order, the first one outermost. Throws `invalid-option` where one gives no model, with its place in the list. */
export const wrapModel = (model: ChatModel, middleware: readonly ModelMiddleware[]): ChatModel =>
  middleware.reduceRight((next, wrap, index) => {
    const made: unknown = wrap(next);
    if (typeof made === 'object' && made !== null && 'generate' in made && typeof made.generate === 'function') {
      return made as ChatModel;
    }
    throw new AgentError(
      'invalid-option',
      `createAgent: modelMiddleware[${index}] gave no model; return { ...next, generate } or { ...next, generate, stream }`,
    );
  }, model);
