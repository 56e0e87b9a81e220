import type { ChatModel, ModelChunk, ModelReply, ModelRequest } from '../../src/models/chat-model.ts';
import type { ModelError } from '../../src/models/model-error.ts';
import { partsOf, type ToolCallPart } from '../../src/messages/message.ts';
import { openaiChat, type OpenAIChatOptions } from '../../src/models/openai/index.ts';
import type { ReplayServer } from '../support/replay-server.ts';

type Options = Partial<OpenAIChatOptions>;
type Request = Partial<ModelRequest>;

const hello: ModelRequest = { messages: [{ role: 'user', content: 'hello' }] };

export const modelOf = (server: ReplayServer, options: Options = {}): ChatModel =>
  openaiChat({ model: 'scripted', baseURL: server.baseURL, apiKey: 'key', ...options });

export const ask = (server: ReplayServer, request: Request = {}, options: Options = {}): Promise<ModelReply> =>
  modelOf(server, options).generate({ ...hello, ...request }, { signal: new AbortController().signal });

export const streamOf = (
  server: ReplayServer,
  request: Request = {},
  options: Options & { signal?: AbortSignal } = {},
): AsyncIterable<ModelChunk> => {
  const { signal = new AbortController().signal, ...rest } = options;
  const stream = modelOf(server, rest).stream?.({ ...hello, ...request }, { signal });
  if (stream === undefined) throw new Error('the model cannot stream');
  return stream;
};

export const askStreamed = async (
  server: ReplayServer,
  request: Request = {},
  options: Options = {},
): Promise<{ reply: ModelReply; chunks: ModelChunk[] }> => {
  const chunks: ModelChunk[] = [];
  for await (const chunk of streamOf(server, request, options)) chunks.push(chunk);
  const last = chunks.at(-1);
  if (last?.type !== 'finish') throw new Error('the stream ended without finish');
  return { reply: last.reply, chunks };
};

export const callParts = (reply: ModelReply): ToolCallPart[] =>
  partsOf(reply.message).filter((part): part is ToolCallPart => part.type === 'tool-call');

/** `[id, name, input]` of each call. */
export const callsIn = (reply: ModelReply): [string, string, unknown][] =>
  callParts(reply).map((part) => [part.toolCallId, part.toolName, part.input]);

export const reasoningOf = (reply: ModelReply): string =>
  partsOf(reply.message)
    .map((part) => (part.type === 'reasoning' ? part.text : ''))
    .join('');

/** What a promise rejects with; fails where it resolves. */
export const thrownBy = async (promise: Promise<unknown>): Promise<ModelError | Error> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};
