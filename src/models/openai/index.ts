export { openaiChat } from './openai-chat.ts';
export type { OpenAIChatOptions } from './options.ts';
