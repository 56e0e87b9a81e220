import { type Message, type Part, partsOf } from '../messages/message.ts';

/** Parts in the form of the conventions. Of a file only its type is told: its bytes belong into no span. */
const partOf = (part: Part): object => {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: part.text };
    case 'tool-call':
      return { type: 'tool_call', id: part.toolCallId, name: part.toolName, arguments: part.input };
    case 'tool-result':
      return {
        type: 'tool_call_response',
        id: part.toolCallId,
        response: 'value' in part.output ? part.output.value : part.output,
      };
    case 'file':
      return { type: 'file-without-content', mime_type: part.mediaType };
    default:
      return part satisfies never;
  }
};

/** What middleware makes of a request, or a model of its reply, is checked by nobody before it is told. */
const toldAs = (make: () => unknown): string => {
  try {
    return JSON.stringify(make());
  } catch {
    return 'unreadable';
  }
};

/** `gen_ai.input.messages`, as JSON. */
export const inputMessages = (messages: readonly Message[]): string =>
  toldAs(() => messages.map((message) => ({ role: message.role, parts: partsOf(message).map(partOf) })));

/** `gen_ai.output.messages`: the one answer, as JSON. */
export const outputMessages = (answer: Message | string, finishReason: string): string => {
  const message: Message = typeof answer === 'string' ? { role: 'assistant', content: answer } : answer;
  return toldAs(() => [{ role: 'assistant', parts: partsOf(message).map(partOf), finish_reason: finishReason }]);
};

/** `gen_ai.system_instructions`, as JSON. */
export const systemInstructions = (text: string): string => JSON.stringify([{ type: 'text', content: text }]);

/** JSON text of any value; what has none is told by its type. */
export const jsonText = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    return typeof value;
  }
};
