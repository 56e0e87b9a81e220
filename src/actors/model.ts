import type { AnyActorRef } from 'xstate';
import { type ErrorData, errorData, isInstance } from '../errors.ts';
import { partsOf } from '../messages/message.ts';
import type { ChatModel, ModelCallOptions, ModelChunk, ModelReply, ModelRequest } from '../models/chat-model.ts';
import { replyOf } from '../models/check-reply.ts';
import { ModelError } from '../models/model-error.ts';
import type { Clock } from './alarm.ts';
import { type EffectLogic, fromEffect } from './effect.ts';
import { holdBack } from './hold-back.ts';
import { hostOf, ownHostOf } from './host.ts';
import { metadataOf } from './metadata-of.ts';
import type { RequestNotes } from './request-notes.ts';
import { SilenceTimer } from './silence-timer.ts';
import { type Speaker, speakerOf } from './speaker.ts';

export interface ModelInput {
  sessionId: string;
  /** 0 is the agent's own model, then the fallbacks in order. */
  model: number;
}

export interface ModelFailure extends ErrorData {
  transient: boolean;
  /** ms. */
  retryAfter?: number;
  overflow?: boolean;
  /** Not the model failed, but the store that must have the state before the model is asked (R38). */
  store?: boolean;
}

export type ModelOutcome = { model: string; notes?: RequestNotes } & (
  | { type: 'reply'; reply: ModelReply }
  | { type: 'error'; error: ModelFailure }
);

export type ModelLogic = EffectLogic<ModelOutcome, ModelInput>;

/** A request that is ready to be sent. */
export interface PreparedRequest {
  request: ModelRequest;
  notes?: RequestNotes;
  /** The same, shorter; undefined where it cannot be. */
  shorten?(): Promise<PreparedRequest | undefined>;
}

export interface ModelOptions {
  models: readonly ChatModel[];
  clock: Clock;
  /** ms without a chunk after which a stream counts as broken. */
  idleTimeout: number | undefined;
  /** What the agent above asks; read when the model is about to be asked. */
  requestOf(agent: AnyActorRef, model: ChatModel, signal: AbortSignal): Promise<PreparedRequest>;
}

/** Of a whole page that a proxy answered with its beginning says enough; what failed is stored, and shown. */
const longestMessage = 2000;

const shortened = ({ message, cause, ...error }: ErrorData): ErrorData => ({
  ...error,
  message: message.length > longestMessage ? `${message.slice(0, longestMessage).toWellFormed()}…` : message,
  ...(cause === undefined ? {} : { cause: shortened(cause) }),
});

const failureOf = (thrown: unknown, name: string): ModelFailure => {
  const error = shortened(errorData(thrown));
  if (!isInstance(thrown, ModelError)) return { ...error, transient: false };
  const { transient, retryAfter, overflow, host } = thrown;
  return {
    ...error,
    ...(host === undefined ? {} : { message: `model "${name}" at ${host}: ${error.message}` }),
    transient: transient === true,
    // A wait that is no number would be one without an end.
    ...(typeof retryAfter === 'number' && retryAfter >= 0
      ? { retryAfter: Math.min(retryAfter, Number.MAX_SAFE_INTEGER) }
      : {}),
    ...(overflow ? { overflow } : {}),
  };
};

const stalled = (name: string, ms: number): ModelError =>
  new ModelError('model-stream-broken', `the stream of model "${name}" was silent for ${ms} ms`, { transient: true });

const emptyStream = async function* (): AsyncGenerator<never> {};

/** What stands around the model may have something to do after its last chunk. It gets that turn, and no more: then the stream ends. */
const readOut = async (chunks: AsyncIterator<unknown>, asked: AbortController): Promise<void> => {
  let task: ReturnType<typeof setTimeout> | undefined;
  const nextTask = new Promise<undefined>((resolve) => {
    task = setTimeout(() => resolve(undefined), 0);
  });
  try {
    const next = await Promise.race([chunks.next(), nextTask]);
    if (next?.done === true) return;
    asked.abort(new DOMException('the reply is whole', 'AbortError'));
    await chunks.return?.();
  } catch {
    // The reply is there already.
  } finally {
    clearTimeout(task);
  }
};

/** A stream that is being read. */
interface Stream {
  model: string;
  speaker: Speaker;
  clock: Clock;
  timer: SilenceTimer | undefined;
  /** Not to be read on. A signal takes longer to look at than a chunk to read. */
  isOver: boolean;
}

/**
 * Gives the reply. No closure: code that was made fast for one is lost with it, and so it is with a field of `Stream` that holds what goes with
 * each stream, as `asked` does.
 */
const readChunks = async (
  chunks: AsyncIterator<ModelChunk>,
  stream: Stream,
  asked: AbortController,
): Promise<unknown> => {
  const { speaker, clock, timer } = stream;
  for (;;) {
    const hold = speaker.behind();
    if (hold !== undefined) {
      // Not the model is silent, but its readers are.
      timer?.end();
      await holdBack(hold, clock, asked.signal);
      if (stream.isOver) break;
      timer?.begin();
    }
    const next = await chunks.next();
    if (next.done === true || stream.isOver) break;
    const chunk = next.value;
    timer?.heard();
    // A chunk is the word of a provider, or of a middleware.
    switch (chunk?.type) {
      case 'finish':
        void readOut(chunks, asked);
        return chunk.reply;
      case 'tool-input-delta':
        speaker.publish({ type: 'tool-input-delta', index: chunk.index, tool: chunk.toolName, text: chunk.text });
        break;
      case 'text-delta':
      case 'reasoning-delta':
        if (typeof chunk.text === 'string') speaker.publish(chunk);
        break;
      default:
        // A chunk of a kind that a later version knows is not an error.
        chunk satisfies never;
    }
  }
  chunks.return?.()?.catch(() => undefined);
  throw new ModelError(
    'model-stream-broken',
    `the stream of model "${stream.model}" ended before its reply was whole`,
    { transient: true },
  );
};

const streamed = async (
  model: ChatModel,
  request: ModelRequest,
  speaker: Speaker,
  { signal, ...about }: ModelCallOptions,
  { clock, idleTimeout }: ModelOptions,
): Promise<unknown> => {
  // What the model is told its end by. A controller of our own: what `AbortSignal.any` makes is kept until the whole heap is collected, and all
  // that was streamed with it.
  const asked = new AbortController();
  const silence = Promise.withResolvers<never>();
  silence.promise.catch(() => undefined);
  const stop = (reason: unknown): void => {
    stream.isOver = true;
    // A stream that does not hear of the stop is waited for by nobody: no timer is to outlive the turn.
    stream.timer?.end();
    asked.abort(reason);
  };
  const timer =
    idleTimeout === undefined
      ? undefined
      : new SilenceTimer(clock, idleTimeout, () => {
          const error = stalled(model.name, idleTimeout);
          silence.reject(error);
          stop(error);
        });
  const stream: Stream = { model: model.name, speaker, clock, timer, isOver: false };
  if (signal.aborted) stop(signal.reason);
  else timer?.begin();
  signal.addEventListener('abort', () => stop(signal.reason), { once: true });
  const read = async (): Promise<unknown> => {
    const chunks = model.stream?.(request, { ...about, signal: asked.signal }) ?? emptyStream();
    if (typeof chunks[Symbol.asyncIterator] !== 'function')
      throw new TypeError(`the model "${model.name}" gave no stream: stream() must give an AsyncIterable of chunks`);
    return readChunks(chunks[Symbol.asyncIterator](), stream, asked);
  };
  try {
    return await (idleTimeout === undefined ? read() : Promise.race([read(), silence.promise]));
  } finally {
    timer?.end();
  }
};

/** A whole reply to those who read along, each part in one piece. */
const tellWhole = ({ message }: ModelReply, speaker: Speaker): void => {
  for (const part of partsOf(message)) {
    if (part.type === 'text') speaker.publish({ type: 'text-delta', text: part.text });
    if (part.type === 'reasoning') speaker.publish({ type: 'reasoning-delta', text: part.text });
  }
};

/** Asks one model once, streamed where somebody reads along. What the provider or the network did wrong is a value. */
export const createModelLogic = (options: ModelOptions): ModelLogic =>
  fromEffect<ModelOutcome, ModelInput>(async ({ input, parent, self, signal }) => {
    const ofTurn = input.model === 0 && parent !== undefined ? ownHostOf(parent)?.model() : undefined;
    const model = ofTurn ?? options.models[input.model] ?? options.models[0];
    const name = model?.name ?? 'none';
    let notes: RequestNotes | undefined;
    const base = () => ({ model: name, ...(notes === undefined ? {} : { notes }) });
    try {
      if (model === undefined || parent === undefined) throw new TypeError('there is no model to ask');
      const host = hostOf(self);
      const speaker = speakerOf(parent, host.audience);
      try {
        await host.barrier();
      } catch (error) {
        return { type: 'error', error: { ...errorData(error), transient: false, store: true }, ...base() };
      }
      const prepared = await options.requestOf(parent, model, signal);
      notes = prepared.notes;
      const asked = { signal, sessionId: input.sessionId, metadata: metadataOf(parent) };
      const canStream = model.stream !== undefined && host.audience.hasReaders();
      const ask = async ({ request }: PreparedRequest): Promise<ModelReply> => {
        signal.throwIfAborted();
        return replyOf(
          await (canStream ? streamed(model, request, speaker, asked, options) : model.generate(request, asked)),
          name,
        );
      };
      let reply: ModelReply;
      try {
        reply = await ask(prepared);
      } catch (error) {
        const isTooLong = isInstance(error, ModelError) && error.overflow && !signal.aborted;
        const shorter = isTooLong ? await prepared.shorten?.() : undefined;
        if (shorter === undefined) throw error;
        notes = shorter.notes;
        reply = await ask(shorter);
      }
      if (!canStream && host.audience.hasReaders()) tellWhole(reply, speaker);
      return { type: 'reply', reply, ...base() };
    } catch (error) {
      return { type: 'error', error: failureOf(error, name), ...base() };
    }
  });
