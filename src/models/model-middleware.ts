import { AgentError } from '../errors.ts';
import { copyJson } from '../messages/json.ts';
import type { ChatModel, ModelChunk, ModelReply, ModelRequest } from './chat-model.ts';
import { hasMessage, noReply } from './no-reply.ts';

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

/** What stands around a model reads its reply before anybody has checked it: at least there has to be one. */
const ask = async (model: ChatModel, ...asked: Parameters<ChatModel['generate']>): Promise<ModelReply> => {
  const reply: unknown = await model.generate(...asked);
  if (!hasMessage(reply)) throw noReply(model.name);
  return reply;
};

const read = async function* (model: ChatModel, chunks: AsyncIterable<ModelChunk>): AsyncGenerator<ModelChunk> {
  for await (const chunk of chunks) {
    if (chunk.type === 'finish' && !hasMessage(chunk.reply)) throw noReply(model.name);
    yield chunk;
  }
};

/** As an object of its own fields, so that `{ ...next, generate }` has the rest of it, also where it is an instance of a class. */
const plain = (model: ChatModel): ChatModel => {
  const { stream } = model;
  return {
    ...model,
    ...about(model),
    generate: (request, options) => ask(model, request, options),
    ...(stream === undefined
      ? {}
      : { stream: (request, options) => read(model, stream.call(model, request, options)) }),
  };
};

/** The session's messages and the agent's settings themselves are not for middleware: what it changes in place would be stored (R48). */
const copyOf = (request: ModelRequest): ModelRequest => ({
  ...request,
  messages: copyJson(request.messages),
  ...(request.settings === undefined ? {} : { settings: copyJson(request.settings) }),
});

const withOwnRequest = ({ generate, stream, ...model }: ChatModel): ChatModel => ({
  ...model,
  generate: (request, options) => generate(copyOf(request), options),
  ...(stream === undefined ? {} : { stream: (request, options) => stream(copyOf(request), options) }),
});

/** In list order, the first one outermost. Throws `invalid-option` where one gives no model, with its place in the list. */
export const wrapModel = (model: ChatModel, middleware: readonly ModelMiddleware[]): ChatModel => {
  if (middleware.length === 0) return model;
  const wrapped = middleware.reduceRight((next, wrap, index) => {
    const made: unknown = wrap(next);
    if (!isModel(made)) {
      throw new AgentError(
        'invalid-option',
        `createAgent: modelMiddleware[${index}] gave no model; return { ...next, generate } or { ...next, generate, stream }`,
      );
    }
    const isWhole = made.stream === next.stream && made.generate !== next.generate;
    return plain(isWhole ? { ...about(made), generate: (request, options) => made.generate(request, options) } : made);
  }, plain(model));
  return withOwnRequest(wrapped);
};
