import {
  type AssistantMessage,
  type FilePart,
  type Message,
  type ProviderOptions,
  type TextPart,
  type ToolOutput,
  type ToolResultPart,
  partsOf,
} from '../../messages/message.ts';
import type { ModelRequest } from '../../models/chat-model.ts';
import { sentFile } from './outgoing-file.ts';
import { notesOf, sentOptions } from './own-fields.ts';
import type { AssistantPart, Prompt, PromptMessage, SentOutput, UserPart } from './provider-types.ts';

const filename = (part: object): { filename?: string } =>
  'filename' in part && typeof part.filename === 'string' ? { filename: part.filename } : {};

const sentOutput = (output: ToolOutput): SentOutput =>
  output.type === 'content'
    ? {
        type: 'content',
        value: output.value.map((part) =>
          part.type === 'text' ? part : { type: 'file', ...sentFile(part), ...filename(part) },
        ),
      }
    : output;

const sentResult = (part: ToolResultPart) => ({
  type: 'tool-result' as const,
  toolCallId: part.toolCallId,
  toolName: part.toolName,
  output: sentOutput(part.output),
  ...sentOptions(part),
});

const sentUserPart = (part: TextPart | FilePart): UserPart =>
  part.type === 'text'
    ? { type: 'text', text: part.text, ...sentOptions(part) }
    : { type: 'file', ...sentFile(part), ...filename(part), ...sentOptions(part) };

const isKind = (kind: string | undefined): kind is `${string}.${string}` => kind?.includes('.') === true;

const sentAssistantPart = (part: Exclude<AssistantMessage['content'], string>[number]): AssistantPart => {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...sentOptions(part) };
    case 'reasoning': {
      const { custom } = notesOf(part);
      if (isKind(custom)) return { type: 'custom', kind: custom, ...sentOptions(part) };
      return { type: 'reasoning', text: part.text, ...sentOptions(part) };
    }
    case 'file':
      if (notesOf(part).reasoningFile) return { type: 'reasoning-file', ...sentFile(part), ...sentOptions(part) };
      return { type: 'file', ...sentFile(part), ...filename(part), ...sentOptions(part) };
    case 'tool-call':
      return {
        type: 'tool-call',
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        input: part.input,
        ...(part.providerExecuted === undefined ? {} : { providerExecuted: part.providerExecuted }),
        ...sentOptions(part),
      };
    case 'tool-result':
      return sentResult(part);
    default:
      return part satisfies never;
  }
};

const partsOfAssistant = (message: AssistantMessage): AssistantPart[] =>
  typeof message.content === 'string'
    ? [{ type: 'text', text: message.content }]
    : message.content.map(sentAssistantPart);

/** Exactly one, in front: the current instructions, or what the history says where there are none. */
const systemMessage = ({ instructions, messages }: ModelRequest): PromptMessage[] => {
  if (instructions !== undefined) return instructions === '' ? [] : [{ role: 'system', content: instructions }];
  const stored = messages.filter(({ role }) => role === 'system');
  const content = stored.flatMap((message) => partsOf(message).map((part) => ('text' in part ? part.text : '')));
  if (content.length === 0) return [];
  const options = stored.reduce<ProviderOptions>((all, each) => ({ ...all, ...sentOptions(each).providerOptions }), {});
  return [
    {
      role: 'system',
      content: content.join('\n\n'),
      ...(Object.keys(options).length === 0 ? {} : { providerOptions: options }),
    },
  ];
};

const sentMessage = (message: Message): PromptMessage[] => {
  switch (message.role) {
    case 'system':
      return [];
    case 'user': {
      const { content } = message;
      const parts: UserPart[] =
        typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(sentUserPart);
      return [{ role: 'user', content: parts, ...sentOptions(message) }];
    }
    case 'assistant':
      return [{ role: 'assistant', content: partsOfAssistant(message), ...sentOptions(message) }];
    case 'tool':
      return [{ role: 'tool', content: message.content.map(sentResult), ...sentOptions(message) }];
    default:
      return message satisfies never;
  }
};

/**
 * The prompt of a provider: our messages in its stricter form, where content is always a list and file data is tagged. By hand, since `ai`
 * exports no conversion that it promises to keep.
 */
export const promptOf = (request: ModelRequest): Prompt => [
  ...systemMessage(request),
  ...request.messages.flatMap(sentMessage),
];
