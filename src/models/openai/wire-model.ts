import type { JsonObject } from '../../messages/json.ts';
import type { ChatModel, ModelChunk, ModelReply, ModelRequest } from '../chat-model.ts';
import { ModelError, from } from '../model-error.ts';
import { readChunks } from './event-stream.ts';
import { isJsonObject } from './json-value.ts';
import { brokenReply, requestError } from './provider-error.ts';
import { withoutKey } from './without-key.ts';

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
  /** What requests are sent with; it stands in no error. */
  key(): string | null | undefined;
  /** Where requests go, for errors. */
  host: string;
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
  let text = '';
  let data: unknown;
  try {
    text = await response.text();
    data = JSON.parse(text);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw text.trimStart().startsWith('<')
      ? pageInReply(error)
      : brokenReply('the reply is not JSON, or broke off', error);
  }
  if (!isJsonObject(data)) throw brokenReply('the reply is not a JSON object');
  return assembly.add(data);
};

/** The first byte that is no space and no byte order mark, without taking it from whoever reads `body` too. */
const firstByte = async (body: ReadableStream<Uint8Array>): Promise<number | undefined> => {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      const found = value.find((byte) => !blank.has(byte));
      if (found !== undefined) return found;
    }
  } finally {
    // Settles only when the other reader leaves too.
    reader.cancel().catch(() => undefined);
  }
};

/** A proxy that wants a login, or a base URL that is not that of the API. */
const pageInReply = (cause?: unknown): ModelError =>
  brokenReply('the server answered with a page, and not as a model does; is the base URL the right one?', cause);

const blank = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
const brace = 0x7b;
/** Markup begins with it, and neither JSON nor an event stream does. */
const lessThan = 0x3c;
/** `data:`, `event:`, `id:`, `retry:` and comments: what lines of an event stream begin with, and JSON never does. */
const lineStart = new Set(Array.from('deir:', (character) => character.charCodeAt(0)));

/** The body, and whether it is a whole reply: some servers answer so where a stream was asked for, under all sorts of content types. */
const look = async (response: Response): Promise<{ isWhole: boolean; response: Response }> => {
  const type = response.headers.get('content-type')?.toLowerCase() ?? '';
  if (response.body === null) return { isWhole: true, response };
  if (type.includes('text/event-stream')) return { isWhole: false, response };
  const [ahead, body] = response.body.tee();
  const first = await firstByte(ahead);
  if (first === lessThan) {
    body.cancel().catch(() => undefined);
    throw pageInReply();
  }
  const isJson = type.includes('json') && !(first !== undefined && lineStart.has(first));
  return { isWhole: first === brace || isJson, response: new Response(body) };
};

/**
 * ms that a server gets to say more, such as its usage, when its reply is whole. Some say nothing and keep the socket open. Longer than a slow
 * reader is waited for.
 */
const longestSilence = 10_000;

const isBroken = (error: unknown): boolean => error instanceof ModelError && error.code === 'model-stream-broken';

async function* readReply(
  assembly: ReplyAssembly,
  response: Response,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk> {
  let found: Awaited<ReturnType<typeof look>>;
  try {
    found = await look(response);
  } catch (error) {
    if (error instanceof ModelError) throw error;
    throw signal.aborted ? signal.reason : brokenReply('the connection broke', error);
  }
  const { body } = found.response;
  if (body === null || found.isWhole) {
    yield* await addWhole(assembly, found.response, signal);
    return;
  }
  const whole = new AbortController();
  let silence: ReturnType<typeof setTimeout> | undefined;
  try {
    for await (const chunk of readChunks(body, whole.signal)) {
      if (chunk === 'done') assembly.close();
      // Not `yield*`, which awaits each item of a list twice.
      else for (const piece of assembly.add(chunk)) yield piece;
      if (assembly.isOver?.() === true) break;
      if (silence === undefined && assembly.isComplete()) silence = setTimeout(() => whole.abort(), longestSilence);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(isBroken(error) && assembly.isComplete())) throw error;
  } finally {
    clearTimeout(silence);
  }
  if (!assembly.isComplete()) throw brokenReply('the stream ended before the model had finished');
}

/** A model behind a wire. It never tries again by itself; a streamed reply counts only when it is whole. */
export const modelOn = (wire: Wire, traits: Omit<ChatModel, 'generate' | 'stream'>): ChatModel => ({
  ...traits,
  generate: async (request, { signal }) => {
    try {
      const assembly = wire.assemble(request);
      const response = await post(wire, request, { signal, stream: false });
      await addWhole(assembly, response, signal);
      return wire.finish(assembly.reply(), request);
    } catch (error) {
      throw from(withoutKey(error, wire.key()), wire.host);
    }
  },
  async *stream(request, { signal }) {
    try {
      const assembly = wire.assemble(request);
      const response = await post(wire, request, { signal, stream: true });
      yield* readReply(assembly, response, signal);
      yield { type: 'finish', reply: wire.finish(assembly.reply(), request) };
    } catch (error) {
      throw from(withoutKey(error, wire.key()), wire.host);
    }
  },
});
