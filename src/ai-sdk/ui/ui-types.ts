import type { UIMessage as AnyUIMessage, UIMessageChunk as AnyUIMessageChunk } from 'ai';

export type UIMessage = AnyUIMessage;
export type UIPart = UIMessage['parts'][number];
export type UIMessageChunk = AnyUIMessageChunk;

/** A tool call as a UI message holds it, whether its tool is known to the page or not. */
export type UIToolPart = Extract<UIPart, { toolCallId: string }>;

export const isToolPart = (part: UIPart): part is UIToolPart =>
  part.type === 'dynamic-tool' || part.type.startsWith('tool-');

/** The last message of the assistant, which a turn that goes on continues. */
export const lastAnswer = (messages: readonly UIMessage[]): UIMessage | undefined =>
  messages.findLast(({ role }) => role === 'assistant');
