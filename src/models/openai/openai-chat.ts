import type { ChatModel, ModelChunk, ModelReply, ModelRequest } from '../chat-model.ts';
import { ModelError } from '../model-error.ts';
import { readChunks } from './event-stream.ts';
import { isJsonObject } from './json-value.ts';
import { chatSetup, type ChatSetup, type OpenAIChatOptions } from './options.ts';
import { brokenReply, requestError } from './provider-error.ts';
import { createReplyAssembly, type ReplyAssembly } from './reply-assembly.ts';
import { requestBody } from './request-body.ts';
import { restoreOptionals } from './strict-reply.ts';

/** What a request made fail: the caller's own reason where the caller stopped it. */
const failure = (thrown: unknown, signal: AbortSignal): unknown =>
  signal.aborted ? signal.reason : requestError(thrown);

const post = async (
  { client, dialect, streamUsage }: ChatSetup,
  request: ModelRequest,
  options: { signal: AbortSignal; stream: boolean },
): Promise<Response> => {
  const { signal } = options;
  signal.throwIfAborted();
  const body = requestBody(request, dialect);
  const streamed = {
    ...body,
    stream: true as const,
    ...(streamUsage ? { stream_options: { include_usage: true } } : {}),
  };
  try {
    const reply = options.stream
      ? client.chat.completions.create(streamed, { signal, maxRetries: 0 })
      : client.chat.completions.create(body, { signal, maxRetries: 0 });
    return await reply.asResponse();
  } catch (error) {
    throw failure(error, signal);
  }
};

const addWhole = async (assembly: ReplyAssembly, response: Response, signal: AbortSignal): Promise<ModelChunk[]> => {
  let data: unknown;
  try {
    data = await response.json();
  } catch (error) {
    throw signal.aborted ? signal.reason : brokenReply('the reply is not JSON, or broke off', error);
  }
  if (!isJsonObject(data)) throw brokenReply('the reply is not a JSON object');
  return assembly.add(data);
};

const isWhole = (response: Response): boolean =>
  response.headers.get('content-type')?.includes('application/json') ?? false;

const isBroken = (error: unknown): boolean => error instanceof ModelError && error.code === 'model-stream-broken';

async function* readReply(
  assembly: ReplyAssembly,
  response: Response,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk> {
  // Some servers answer whole where a stream was asked for.
  if (response.body === null || isWhole(response)) {
    yield* await addWhole(assembly, response, signal);
    return;
  }
  try {
    for await (const chunk of readChunks(response.body)) {
      if (chunk === 'done') assembly.close();
      else yield* assembly.add(chunk);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(isBroken(error) && assembly.isComplete())) throw error;
  }
  if (!assembly.isComplete()) throw brokenReply('the stream ended before the model had finished');
}

/**
 * A model behind OpenAI's Chat Completions, or any server that speaks it. It never tries again by itself: errors come as
 * `ModelError` that says whether they may pass. A streamed reply counts only when it is whole.
 *
 * @example openaiChat({ model: 'gpt-5-mini' })
 * @example openaiChat({ model: 'qwen3', baseURL: 'http://localhost:11434/v1' })
 */
export const openaiChat = (options: OpenAIChatOptions): ChatModel => {
  const setup = chatSetup(options);
  const { dialect, canOutput, needsTools } = setup;

  const assemblyFor = (request: ModelRequest): ReplyAssembly =>
    createReplyAssembly(dialect.provider, new Set(request.tools?.map((tool) => tool.name)));

  const replyOf = (assembly: ReplyAssembly, request: ModelRequest): ModelReply =>
    dialect.strict ? restoreOptionals(assembly.reply(), request) : assembly.reply();

  return {
    name: options.model,
    canOutput,
    needsTools,
    generate: async (request, { signal }) => {
      const assembly = assemblyFor(request);
      const response = await post(setup, request, { signal, stream: false });
      await addWhole(assembly, response, signal);
      return replyOf(assembly, request);
    },
    async *stream(request, { signal }) {
      const assembly = assemblyFor(request);
      const response = await post(setup, request, { signal, stream: true });
      yield* readReply(assembly, response, signal);
      yield { type: 'finish', reply: replyOf(assembly, request) };
    },
  };
};
