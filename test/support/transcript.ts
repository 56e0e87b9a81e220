import type { Message, Part, ToolOutput } from '../../src/messages/message.ts';
import { partsOf } from '../../src/messages/message.ts';

export const outputText = (output: ToolOutput): string => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'execution-denied':
      return output.reason ?? 'denied';
    case 'json':
    case 'error-json':
    case 'content':
      return JSON.stringify(output.value);
    default:
      return output satisfies never;
  }
};

const partText = (part: Part): string => {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'reasoning':
      return `(${part.text})`;
    case 'file':
      return `[${part.mediaType}]`;
    case 'tool-call':
      return `${part.toolName}${JSON.stringify(part.input)}`;
    case 'tool-result':
      return outputText(part.output);
    default:
      return part satisfies never;
  }
};

/** A history in short: `user: hi`, `assistant: weather{"city":"Suzhou"}`, `tool: rain`. */
export const transcript = (messages: readonly Message[]): string[] =>
  messages.map((message) => `${message.role}: ${partsOf(message).map(partText).join(' | ')}`);

/** What the model read of each call, in order. */
export const results = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) =>
    message.role === 'tool' ? message.content.map(({ output }) => outputText(output)) : [],
  );
