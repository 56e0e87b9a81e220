import { callsOf, type AssistantMessage } from '../../messages/message.ts';
import type { ModelReply, ModelRequest } from '../chat-model.ts';
import { isJsonObject } from './json-value.ts';
import { dropOptionalNulls } from './strict-schema.ts';

type AssistantPart = Exclude<AssistantMessage['content'], string>[number];

const restoreText = (text: string, { output }: ModelRequest): string => {
  if (output === undefined) return text;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? JSON.stringify(dropOptionalNulls(value, output.schema)) : text;
  } catch {
    return text;
  }
};

/** A reply in strict mode, as the tools' own schemas and that of the output know it: without the nulls of optional fields. */
export const restoreOptionals = (reply: ModelReply, request: ModelRequest): ModelReply => {
  const { message } = reply;
  if (typeof message.content === 'string') return reply;
  const isAnswer = callsOf(message).length === 0;
  const schemas = new Map(request.tools?.map((tool) => [tool.name, tool.inputSchema]));
  const restore = (part: AssistantPart): AssistantPart => {
    if (part.type === 'text' && isAnswer) return { ...part, text: restoreText(part.text, request) };
    if (part.type !== 'tool-call') return part;
    const schema = schemas.get(part.toolName);
    if (schema === undefined || !isJsonObject(part.input)) return part;
    return { ...part, input: dropOptionalNulls(part.input, schema) };
  };
  return { ...reply, message: { ...message, content: message.content.map(restore) } };
};
