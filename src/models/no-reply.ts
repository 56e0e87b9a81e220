import type { ModelReply } from './chat-model.ts';

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

/** A reply as far as whoever has not checked it may read it: there is a message of the assistant, with content. */
export const hasMessage = (reply: unknown): reply is ModelReply => {
  const { role, content } = fieldsOf(fieldsOf(reply)['message']);
  return role === 'assistant' && (typeof content === 'string' || Array.isArray(content));
};

export const noReply = (name: string): TypeError =>
  new TypeError(`the model "${name}" gave no reply with an assistant message in it`);
