import type { JsonObject } from '../../messages/json.ts';
import type { ChatModel, ModelChunk, ModelReply, ModelRequest } from '../chat-model.ts';
import { ModelError } from '../model-error.ts';
import { readChunks } from './event-stream.ts';
import { isJsonObject } from './json-value.ts';
import { brokenReply, requestError } from './provider-error.ts';

/** Puts one reply together. */
export interface ReplyAssembly {
  /** Takes one chunk of a stream, or a whole reply, and says what is new in it. Throws `ModelError` for an error object. */
  add(data: JsonObject): ModelChunk[];
  /** The server said in so many words that its stream is over. */
  close(): void;
  /** Nothing is missing. */
  isComplete(): boolean;
  /** Nothing can follow that counts: the stream is left at once (default: never). */
  isOver?(): boolean;
  reply(): ModelReply;
}

/** One API over HTTP: how a request goes out, and how its reply is read. */
export interface Wire {
  /** Sends once and resolves with the headers. What it throws becomes a `ModelError`. */
  send(request: ModelRequest, options: { signal: AbortSignal; stream: boolean }): Promise<Response>;
  assemble(request: ModelRequest): ReplyAssembly;
  /** The reply as the caller gets it. */
  finish(reply: ModelReply, request: ModelRequest): ModelReply;
}

/** What a request made fail: the caller's own reason where the caller stopped it. */
const failure = (thrown: unknown, signal: AbortSignal): unknown => {
  if (signal.aborted) return signal.reason;
  return thrown instanceof ModelError ? thrown : requestError(thrown);
};

const post = async (
  wire: Wire,
  request: ModelRequest,
  options: { signal: AbortSignal; stream: boolean },
): Promise<Response> => {
  options.signal.throwIfAborted();
  try {
    return await wire.send(request, options);
  } catch (error) {
    throw failure(error, options.signal);
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
      if (assembly.isOver?.() === true) break;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(isBroken(error) && assembly.isComplete())) throw error;
  }
  if (!assembly.isComplete()) throw brokenReply('the stream ended before the model had finished');
}

/** A model behind a wire. It never tries again by itself; a streamed reply counts only when it is whole. */
export const modelOn = (wire: Wire, traits: Omit<ChatModel, 'generate' | 'stream'>): ChatModel => ({
  ...traits,
  generate: async (request, { signal }) => {
    const assembly = wire.assemble(request);
    const response = await post(wire, request, { signal, stream: false });
    await addWhole(assembly, response, signal);
    return wire.finish(assembly.reply(), request);
  },
  async *stream(request, { signal }) {
    const assembly = wire.assemble(request);
    const response = await post(wire, request, { signal, stream: true });
    yield* readReply(assembly, response, signal);
    yield { type: 'finish', reply: wire.finish(assembly.reply(), request) };
  },
});
