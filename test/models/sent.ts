import type { AssistantMessage, Message, ToolOutput } from '../../src/messages/message.ts';
import type { ModelRequest } from '../../src/models/chat-model.ts';
import type { OpenAIChatOptions } from '../../src/models/openai/index.ts';
import { completion, startReplayServer, type RecordedRequest } from '../support/replay-server.ts';
import { ask } from './ask.ts';

/** The body that a strict server was sent. */
export const sent = async (
  request: Partial<ModelRequest>,
  options: Partial<OpenAIChatOptions> = {},
): Promise<RecordedRequest['body']> => {
  await using server = await startReplayServer([{ json: completion({ content: 'ok' }) }], { strict: true });
  await ask(server, request, options);
  return server.requests[0]?.body ?? {};
};

export const messagesOf = async (
  messages: Message[],
  request: Partial<ModelRequest> = {},
  options = {},
): Promise<unknown> => (await sent({ messages, ...request }, options))['messages'];

export const user: Message = { role: 'user', content: 'go' };
export const calling = (input: unknown, toolCallId = 'c1', toolName = 'f'): AssistantMessage => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId, toolName, input }],
});
/** A message with one call of `f` for each id. */
export const callingAll = (...ids: string[]): AssistantMessage => ({
  role: 'assistant',
  content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'f', input: {} })),
});
export const result = (output: ToolOutput, toolCallId = 'c1', toolName = 'f'): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName, output }],
});
export const round = (input: unknown, output: ToolOutput = { type: 'text', value: 'done' }): Message[] => [
  user,
  calling(input),
  result(output),
];

export const f = { name: 'f', description: 'does f', inputSchema: { type: 'object', properties: {} } };
