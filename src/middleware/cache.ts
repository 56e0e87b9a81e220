import { LRUCache } from 'lru-cache';
import { canonicalJson } from '../messages/json.ts';
import { partsOf } from '../messages/message.ts';
import type { ModelChunk, ModelReply, ModelRequest } from '../models/chat-model.ts';
import type { ModelMiddleware } from '../models/model-middleware.ts';
import { hasMessage } from '../models/no-reply.ts';
import { type Rules, checkGiven, has, integer } from '../sessions/option-bounds.ts';

/** Where replies are kept: a `Map`, or anything with these two. Replies are plain JSON. */
export interface ReplyStore {
  /** Anything but a reply counts as none. */
  get(key: string): ModelReply | null | undefined | Promise<ModelReply | null | undefined>;
  set(key: string, reply: ModelReply): unknown;
}

export interface CacheOptions {
  /** Default: in memory, the replies that were used last. */
  store?: ReplyStore;
  /** Replies that the default store keeps. Default 500. */
  max?: number;
  /** ms that the default store keeps a reply. Default: as long as there is room. */
  ttl?: number;
}

const hexOf = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Equal requests to a model of one name have one key, whatever the order of their fields: SHA-256 of their canonical JSON. */
const keyOf = async (model: string, request: ModelRequest): Promise<string> =>
  hexOf(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson([model, request]))));

const isWhole = ({ finishReason, refusal, message }: ModelReply): boolean =>
  refusal === undefined &&
  (finishReason === 'stop' || finishReason === 'tool-calls') &&
  partsOf(message).some((part) => part.type !== 'reasoning' && (part.type !== 'text' || part.text !== ''));

/** The reply as the chunks of a stream, each part in one piece. */
const chunksOf = function* (reply: ModelReply): Generator<ModelChunk> {
  let index = 0;
  for (const part of partsOf(reply.message)) {
    if (part.type === 'text') yield { type: 'text-delta', text: part.text };
    if (part.type === 'reasoning') yield { type: 'reasoning-delta', text: part.text };
    // What the provider ran is not written by the model, and has no index.
    if (part.type !== 'tool-call' || part.providerExecuted === true) continue;
    yield { type: 'tool-input-delta', index, toolName: part.toolName, text: JSON.stringify(part.input) };
    index += 1;
  }
  yield { type: 'finish', reply };
};

/** A kept reply has cost nothing this time. */
const unpaid = (reply: ModelReply): ModelReply => ({
  ...structuredClone(reply),
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
});

const rules = {
  store: has('a Map, or what has get and set', 'get', 'set'),
  max: integer(1),
  ttl: integer(0),
} satisfies Record<keyof CacheOptions, Rules[string]>;

/**
 * Answers a request that was answered before with the same reply, whole or as a stream, whichever it was the first time. Kept are whole
 * answers only: no failure, refusal, empty or cut reply. A store that fails is passed by: the model is asked.
 *
 * Throws `invalid-option`.
 */
export const cache = (options: CacheOptions = {}): ModelMiddleware => {
  checkGiven(options, rules, 'cache');
  const { store, max = 500, ttl = 0 } = options;
  const kept: ReplyStore = store ?? new LRUCache<string, ModelReply>({ max, ttl });
  const find = async (key: string): Promise<ModelReply | undefined> => {
    try {
      const reply: unknown = await kept.get(key);
      return hasMessage(reply) ? unpaid(reply) : undefined;
    } catch {
      return undefined;
    }
  };
  const keep = async (key: string, reply: ModelReply): Promise<void> => {
    if (!isWhole(reply)) return;
    try {
      await kept.set(key, structuredClone(reply));
    } catch {
      // The next request asks the model again.
    }
  };
  return (next) => {
    const { stream } = next;
    return {
      ...next,
      generate: async (request, options) => {
        const key = await keyOf(next.name, request);
        const found = await find(key);
        if (found !== undefined) return found;
        const reply = await next.generate(request, options);
        await keep(key, reply);
        return reply;
      },
      ...(stream === undefined
        ? {}
        : {
            stream: async function* (request, options) {
              const key = await keyOf(next.name, request);
              const found = await find(key);
              if (found !== undefined) {
                yield* chunksOf(found);
                return;
              }
              for await (const chunk of stream.call(next, request, options)) {
                if (chunk.type === 'finish') await keep(key, chunk.reply);
                yield chunk;
              }
            },
          }),
    };
  };
};
