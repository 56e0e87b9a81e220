import { isPlainObject } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import { ownKey } from '../messages/own-options.ts';

/** Stands for the first message of an agent inside a call, where it is the `prompt` of the call's arguments. */
const placeholder: Message = {
  role: 'user',
  content: "the call's prompt",
  providerOptions: { [ownKey]: { isPrompt: true } },
};

const promptOf = (input: unknown): string | undefined => {
  const prompt = isPlainObject(input) ? input['prompt'] : undefined;
  return typeof prompt === 'string' ? prompt : undefined;
};

export const withoutPrompt = (messages: Message[], input: unknown): Message[] => {
  const [first, ...rest] = messages;
  const isPrompt = first?.role === 'user' && Object.keys(first).length === 2 && first.content === promptOf(input);
  return isPrompt ? [placeholder, ...rest] : messages;
};

export const withPrompt = (messages: Message[], input: unknown): Message[] => {
  const [first, ...rest] = messages;
  const content = promptOf(input);
  if (content === undefined || first?.providerOptions?.[ownKey]?.['isPrompt'] !== true) return messages;
  return [{ role: 'user', content }, ...rest];
};
