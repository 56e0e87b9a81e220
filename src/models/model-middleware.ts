import { AgentError } from '../errors.ts';
import { copyJson } from '../messages/json.ts';
import type { ChatModel, ModelRequest } from './chat-model.ts';

/**
 * Stands around every model call: it takes the next model and gives one of its own, most simply `{ ...next, generate }`. It may change
 * the request or the reply, answer itself, or ask again. One that gives a `generate` of its own and no `stream` of its own is asked
 * whole, also where the turn is streamed, so that nothing goes past it.
 */
export type ModelMiddleware = (next: ChatModel) => ChatModel;

const isModel = (made: unknown): made is ChatModel =>
  typeof made === 'object' && made !== null && 'generate' in made && typeof made.generate === 'function';

const about = ({ name, provider, canOutput, needsTools }: ChatModel) => ({
  name,
  ...(provider === undefined ? {} : { provider }),
  ...(canOutput === undefined ? {} : { canOutput }),
  ...(needsTools === undefined ? {} : { needsTools }),
});

/** The session's messages and the agent's settings themselves are not for middleware: what it changes in place would be stored (R48). */
const copyOf = (request: ModelRequest): ModelRequest => ({
  ...request,
  messages: copyJson(request.messages),
  ...(request.settings === undefined ? {} : { settings: copyJson(request.settings) }),
});

const withOwnRequest = (model: ChatModel): ChatModel => {
  const { stream } = model;
  return {
    ...about(model),
    generate: (request, options) => model.generate(copyOf(request), options),
    ...(stream === undefined ? {} : { stream: (request, options) => stream.call(model, copyOf(request), options) }),
  };
};

/** In list order, the first one outermost. Throws `invalid-option` where one gives no model, with its place in the list. */
export const wrapModel = (model: ChatModel, middleware: readonly ModelMiddleware[]): ChatModel => {
  const wrapped = middleware.reduceRight((next, wrap, index) => {
    const made: unknown = wrap(next);
    if (!isModel(made)) {
      throw new AgentError(
        'invalid-option',
        `createAgent: modelMiddleware[${index}] gave no model; return { ...next, generate } or { ...next, generate, stream }`,
      );
    }
    if (made.stream === undefined || made.stream !== next.stream || made.generate === next.generate) return made;
    return { ...about(made), generate: (request, options) => made.generate(request, options) };
  }, model);
  return wrapped === model ? model : withOwnRequest(wrapped);
};
