import { AgentError } from '../errors.ts';
import type { ChatModel } from './chat-model.ts';

/**
 * Stands around every model call: it takes the next model and gives one of its own, most simply `{ ...next, generate }`. It may change
 * the request or the reply, answer itself, or ask again. One that gives a `generate` of its own and no `stream` of its own is asked
 * whole, also where the turn is streamed, so that nothing goes past it.
 */
export type ModelMiddleware = (next: ChatModel) => ChatModel;

const isModel = (made: unknown): made is ChatModel =>
  typeof made === 'object' && made !== null && 'generate' in made && typeof made.generate === 'function';

/** In list order, the first one outermost. Throws `invalid-option` where one gives no model, with its place in the list. */
export const wrapModel = (model: ChatModel, middleware: readonly ModelMiddleware[]): ChatModel =>
  middleware.reduceRight((next, wrap, index) => {
    const made: unknown = wrap(next);
    if (!isModel(made)) {
      throw new AgentError(
        'invalid-option',
        `createAgent: modelMiddleware[${index}] gave no model; return { ...next, generate } or { ...next, generate, stream }`,
      );
    }
    if (made.stream === undefined || made.stream !== next.stream || made.generate === next.generate) return made;
    const { name, provider, canOutput, needsTools } = made;
    return {
      name,
      ...(provider === undefined ? {} : { provider }),
      ...(canOutput === undefined ? {} : { canOutput }),
      ...(needsTools === undefined ? {} : { needsTools }),
      generate: (request, options) => made.generate(request, options),
    };
  }, model);
