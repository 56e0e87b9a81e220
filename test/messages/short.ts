import type {
  AssistantMessage,
  Message,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from '../../src/messages/message.ts';

/** Short forms for tests of histories. */
export const user = (content: string): UserMessage => ({ role: 'user', content });

export const call = (toolCallId: string, providerCallId?: string, more: Partial<ToolCallPart> = {}): ToolCallPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'read',
  input: {},
  ...(providerCallId === undefined ? {} : { providerOptions: { agentchart: { providerCallId } } }),
  ...more,
});

export const result = (toolCallId: string, value = toolCallId): ToolResultPart => ({
  type: 'tool-result',
  toolCallId,
  toolName: 'read',
  output: { type: 'text', value },
});

export const asks = (...content: (ToolCallPart | ToolResultPart)[]): AssistantMessage => ({
  role: 'assistant',
  content,
});
export const says = (content: string): AssistantMessage => ({ role: 'assistant', content });
export const answers = (...content: ToolResultPart[]): ToolMessage => ({ role: 'tool', content });

/** A history in one line: `u:hi a(c1,c2) t(c1=ok,c2=ok)`. */
export const outline = (messages: readonly Message[]): string =>
  messages
    .map(({ role, content }) => {
      if (typeof content === 'string') return `${role[0]}:${content}`;
      const parts = content.map((part) => {
        if (part.type === 'tool-call') return part.toolCallId;
        if (part.type !== 'tool-result') return part.type;
        const { output } = part;
        return `${part.toolCallId}=${output.type === 'text' ? output.value : output.type}`;
      });
      return `${role[0]}(${parts.join(',')})`;
    })
    .join(' ');
