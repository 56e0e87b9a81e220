import { AgentError } from '../errors.ts';
import type { AssistantMessage } from '../messages/message.ts';
import { textOf } from '../messages/message.ts';
import type { Usage } from '../messages/usage.ts';
import { checkAnswer, checkScript } from './check-script.ts';
import type {
  ChatModel,
  FinishReason,
  ModelCallOptions,
  ModelChunk,
  ModelReply,
  ModelRequest,
} from '../models/chat-model.ts';

/** A reply in short. `id` is the provider's; without it the call has none. */
export interface ScriptedReply {
  text?: string;
  reasoning?: string;
  toolCalls?: readonly { name: string; input?: unknown; id?: string }[];
  finishReason?: FinishReason;
  refusal?: string;
  usage?: Usage;
}

/** One answer of the script: text, a reply, an error to throw, or a function that decides when it is asked. */
export type ScriptedAnswer =
  | string
  | Error
  | ScriptedReply
  | ModelReply
  | ((
      request: ModelRequest,
      options: ModelCallOptions,
    ) => string | ScriptedReply | ModelReply | Promise<string | ScriptedReply | ModelReply>);

/** A model that follows a script, and remembers what it was asked. */
export interface ScriptedModel extends ChatModel {
  stream: NonNullable<ChatModel['stream']>;
  /** Every request so far, in order. */
  readonly requests: readonly ModelRequest[];
  /** Throws where the script was asked too seldom or too often. */
  assertFinished(): void;
}

const replyOf = (answer: string | ScriptedReply | ModelReply): ModelReply => {
  if (typeof answer === 'string') return replyOf({ text: answer });
  if ('message' in answer) return answer;
  const { text, reasoning, toolCalls = [], finishReason, refusal, usage } = answer;
  const content: Exclude<AssistantMessage['content'], string> = [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...toolCalls.map(({ name, input = {}, id = '' }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: name,
      input,
    })),
  ];
  return {
    message: { role: 'assistant', content },
    finishReason: finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop'),
    ...(refusal === undefined ? {} : { refusal }),
    ...(usage === undefined ? {} : { usage }),
  };
};

/** Text in pieces of a word each, as providers send it. */
const piecesOf = (text: string): string[] => text.match(/\S+\s*|\s+/g) ?? [];

const chunksOf = function* (reply: ModelReply): Generator<ModelChunk> {
  const parts = typeof reply.message.content === 'string' ? [] : reply.message.content;
  for (const part of parts) {
    if (part.type === 'reasoning') for (const text of piecesOf(part.text)) yield { type: 'reasoning-delta', text };
  }
  for (const text of piecesOf(textOf(reply.message))) yield { type: 'text-delta', text };
  let index = 0;
  for (const part of parts) {
    if (part.type !== 'tool-call') continue;
    yield { type: 'tool-input-delta', index, toolName: part.toolName, text: JSON.stringify(part.input) ?? '' };
    index += 1;
  }
  yield { type: 'finish', reply };
};

/**
 * A model for tests: gives its answers in order, whole or streamed. One request too many fails with what was asked; `assertFinished`
 * fails where answers are left.
 *
 * ```ts
 * const model = scriptedModel([{ toolCalls: [{ name: 'weather', input: { city: 'Suzhou' } }] }, 'Take a coat.']);
 * ```
 */
export const scriptedModel = (answers: readonly ScriptedAnswer[], options: { name?: string } = {}): ScriptedModel => {
  checkScript(answers, options);
  const { name = 'scripted' } = options;
  const requests: ModelRequest[] = [];
  const next = async (request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> => {
    options.signal.throwIfAborted();
    const index = requests.length;
    requests.push(request);
    const answer = answers[index];
    if (answer === undefined) {
      throw new AgentError(
        'model-request-failed',
        `the script has ${answers.length} answers and was asked ${requests.length} times; the last message was ${JSON.stringify(request.messages.at(-1))}`,
      );
    }
    if (answer instanceof Error) throw answer;
    if (typeof answer !== 'function') return replyOf(answer);
    const given = await answer(request, options);
    checkAnswer(given, `scriptedModel: what answer ${index + 1} gave`);
    return replyOf(given);
  };
  return {
    name,
    requests,
    generate: next,
    stream: async function* (request, options) {
      for (const chunk of chunksOf(await next(request, options))) {
        options.signal.throwIfAborted();
        yield chunk;
      }
    },
    assertFinished: () => {
      if (requests.length === answers.length) return;
      throw new AgentError(
        'model-request-failed',
        `the script has ${answers.length} answers and was asked ${requests.length} times`,
      );
    },
  };
};
