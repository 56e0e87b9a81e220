export { openaiChat } from './openai-chat.ts';
export type { OpenAIChatOptions } from './options.ts';
export { openaiResponses } from './responses/openai-responses.ts';
export type { OpenAIResponsesOptions } from './responses/options.ts';
