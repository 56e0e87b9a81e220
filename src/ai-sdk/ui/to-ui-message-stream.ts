import { type ErrorData, errorData } from '../../errors.ts';
import type { TurnResult } from '../../machines/turn-result.ts';
import type { RunStream } from '../../sessions/agent.ts';
import type { AgentEvent } from '../../sessions/agent-event.ts';
import { checkUIMessages } from './check-ui-messages.ts';
import { createUIMessage } from './ui-message.ts';
import type { UIMessage, UIMessageChunk } from './ui-types.ts';

export interface UIStreamOptions {
  /**
   * What the page sent, as it came: where its last message is the assistant's, the turn goes on in that message. Without it the page is
   * taken to show every call of the session already, and decisions on calls of an earlier stream are not shown.
   */
  messages?: readonly UIMessage[];
  /** The id of a new message. Default: the page makes one. */
  messageId?: string;
  /** What the page may read of an error of the turn. Default, and where it throws: that there was one. */
  onError?: (error: ErrorData) => string;
  /** Kept with the message when the turn rests or waits, such as its usage. */
  messageMetadata?: (result: TurnResult) => unknown;
}

const isRun = (stream: RunStream | AsyncIterable<AgentEvent>): stream is RunStream => 'result' in stream;

const hiddenError = 'An error occurred.';

async function* chunksOf(
  events: AsyncIterator<AgentEvent>,
  run: RunStream | undefined,
  options: UIStreamOptions,
): AsyncGenerator<UIMessageChunk> {
  const { messages, messageMetadata } = options;
  const onError = (error: ErrorData): string => {
    try {
      return options.onError?.(error) ?? hiddenError;
    } catch {
      return hiddenError;
    }
  };
  const last = messages?.at(-1);
  const messageId = last?.role === 'assistant' ? last.id : options.messageId;
  const message = createUIMessage({ messages, onError, messageMetadata });
  yield { type: 'start', ...(messageId === undefined ? {} : { messageId }) };
  let failure: ErrorData | undefined;
  try {
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      yield* message.hear(next.value);
      // The events of a run end with it; those of a session go on after the turn.
      if (run === undefined && next.value.type === 'finish') break;
    }
    // A run that was stopped before its turn began has a result and no events.
    if (run !== undefined && !message.isFinished()) message.conclude(await run.result);
  } catch (error) {
    failure = errorData(error);
  }
  yield* message.end(failure);
}

/**
 * A run, or the next turn of a session, as a stream of UI message chunks of the AI SDK 7: for `createUIMessageStreamResponse` and `useChat`.
 * Ends when the turn rests or waits for people. Never errors: a failure is a chunk. Nothing is read before the stream is. Throws
 * `invalid-message` for `messages` that are none.
 *
 * Cancelling it leaves the events: that stops a run of `agent.stream` at its next event (give it the request's `signal` to stop it at
 * once), and does nothing to a session that is watched by `session.events()`.
 */
export const toUIMessageStream = (
  stream: RunStream | AsyncIterable<AgentEvent>,
  options: UIStreamOptions = {},
): ReadableStream<UIMessageChunk> => {
  if (options.messages !== undefined) checkUIMessages(options.messages);
  const events = stream[Symbol.asyncIterator]();
  const chunks = chunksOf(events, isRun(stream) ? stream : undefined, options);
  const leave = (): void => {
    events.return?.().catch(() => undefined);
  };
  return new ReadableStream<UIMessageChunk>({
    pull: async (controller) => {
      const next = await chunks.next();
      if (next.done !== true) {
        controller.enqueue(next.value);
        return;
      }
      controller.close();
      leave();
    },
    cancel: leave,
  });
};
