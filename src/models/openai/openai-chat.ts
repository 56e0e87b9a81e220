import { hostOf } from './client-options.ts';
import type { ChatModel } from '../chat-model.ts';
import { chatSetup, type ChatSetup, type OpenAIChatOptions } from './options.ts';
import { createReplyAssembly } from './reply-assembly.ts';
import { requestBody } from './request-body.ts';
import { restoreOptionals } from './strict-reply.ts';
import { modelOn, type Wire } from './wire-model.ts';

const chatWire = ({ client, dialect, streamUsage }: ChatSetup): Wire => ({
  key: () => client.apiKey,
  host: hostOf(client),
  send: (request, { signal, stream }) => {
    const body = requestBody(request, dialect);
    const streamed = {
      ...body,
      stream: true as const,
      ...(streamUsage ? { stream_options: { include_usage: true } } : {}),
    };
    const reply = stream
      ? client.chat.completions.create(streamed, { signal, maxRetries: 0 })
      : client.chat.completions.create(body, { signal, maxRetries: 0 });
    return reply.asResponse();
  },
  assemble: ({ tools }) => createReplyAssembly(dialect.provider, new Set(tools?.map((tool) => tool.name))),
  finish: (reply, request) => (dialect.strict ? restoreOptionals(reply, request) : reply),
});

/**
 * A model behind OpenAI's Chat Completions, or any server that speaks it. It never tries again by itself: errors come as
 * `ModelError` that says whether they may pass. A streamed reply counts only when it is whole.
 *
 * @example openaiChat({ model: 'gpt-5-mini' })
 * @example openaiChat({ model: 'qwen3', baseURL: 'http://localhost:11434/v1' })
 */
export const openaiChat = (options: OpenAIChatOptions): ChatModel => {
  const setup = chatSetup(options);
  const { canOutput, needsTools } = setup;
  return modelOn(chatWire(setup), { name: options.model, provider: 'openai', canOutput, needsTools });
};
