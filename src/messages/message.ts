import type { JsonObject, JsonValue } from './json.ts';

/**
 * Extra fields of one provider, under that provider's own key: `{ openai: { … } }`. An adapter reads and echoes
 * only its own key. The key `agentchart` is ours and never leaves the session.
 */
export type ProviderOptions = Record<string, JsonObject>;

export interface TextPart {
  type: 'text';
  text: string;
  providerOptions?: ProviderOptions;
}

/** What a model thought before it answered. Shown apart from the answer. */
export interface ReasoningPart {
  type: 'reasoning';
  text: string;
  providerOptions?: ProviderOptions;
}

/** An image or document. `data` is base64, a `data:` URL or an `http(s):` URL; never binary, so that it is plain JSON. */
export interface FilePart {
  type: 'file';
  data: string;
  mediaType: string;
  filename?: string;
  providerOptions?: ProviderOptions;
}

/**
 * One request of a model to run a tool. `input` is an object, not yet checked against the tool's schema; or the raw text,
 * where the model's arguments were not one JSON object.
 *
 * In a session `toolCallId` is ours and unique there; in a `ModelReply` and a `ModelRequest` it is the provider's.
 */
export interface ToolCallPart {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: unknown;
  /** The provider has run it already; its result stands in the same message. It is shown, never run here. */
  providerExecuted?: boolean;
  providerOptions?: ProviderOptions;
}

/** What goes back to the model for one call. `error-*` and `execution-denied` are the forms of failure. */
export type ToolOutput =
  | { type: 'text'; value: string }
  | { type: 'json'; value: JsonValue }
  | { type: 'error-text'; value: string }
  | { type: 'error-json'; value: JsonValue }
  | { type: 'execution-denied'; reason?: string }
  | { type: 'content'; value: ContentPart[] };

/** A piece of a tool's result that is more than text. `data` is base64. */
export type ContentPart =
  | { type: 'text'; text: string }
  | { type: 'file-data'; data: string; mediaType: string; filename?: string }
  | { type: 'image-data'; data: string; mediaType: string };

export interface ToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: ToolOutput;
  providerOptions?: ProviderOptions;
}

export interface SystemMessage {
  role: 'system';
  content: string;
  providerOptions?: ProviderOptions;
}

export interface UserMessage {
  role: 'user';
  content: string | (TextPart | FilePart)[];
  providerOptions?: ProviderOptions;
}

export interface AssistantMessage {
  role: 'assistant';
  content: string | (TextPart | ReasoningPart | FilePart | ToolCallPart | ToolResultPart)[];
  providerOptions?: ProviderOptions;
}

export interface ToolMessage {
  role: 'tool';
  content: ToolResultPart[];
  providerOptions?: ProviderOptions;
}

/** One message of a conversation, in the shape of the AI SDK's `ModelMessage`, restricted to plain JSON. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;
export type Part = TextPart | ReasoningPart | FilePart | ToolCallPart | ToolResultPart;

/** The parts of a message; a plain string is one text part, an empty string none. */
export const partsOf = (message: Message): readonly Part[] => {
  if (typeof message.content !== 'string') return message.content;
  return message.content === '' ? [] : [{ type: 'text', text: message.content }];
};

/** The text that a person would read: text parts joined, without reasoning and calls. */
export const textOf = (message: Message): string =>
  typeof message.content === 'string'
    ? message.content
    : message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** The calls that are ours to run: those that the provider has not run itself. */
export const callsOf = (message: AssistantMessage): ToolCallPart[] => {
  if (typeof message.content === 'string') return [];
  let answered: Set<string> | undefined;
  for (const part of message.content) if (part.type === 'tool-result') (answered ??= new Set()).add(part.toolCallId);
  return message.content.filter(
    (part): part is ToolCallPart =>
      part.type === 'tool-call' && part.providerExecuted !== true && answered?.has(part.toolCallId) !== true,
  );
};
