import { base64Of } from '../../messages/check-file.ts';
import { type JsonValue, isPlainObject } from '../../messages/json.ts';
import type { AssistantMessage, FilePart, ProviderOptions, ToolCallPart, ToolOutput } from '../../messages/message.ts';
import { ModelError } from '../../models/model-error.ts';
import { type AdapterNotes, withNotes } from './own-fields.ts';
import type { Content, ProviderMetadata } from './provider-types.ts';

type ReplyPart = Exclude<AssistantMessage['content'], string>[number];

/** Signatures and ids of the provider, where they are found again when the part goes back to it. */
const kept = (metadata: ProviderMetadata | undefined, notes?: AdapterNotes): { providerOptions?: ProviderOptions } => {
  if (notes !== undefined) return { providerOptions: withNotes(metadata, notes) };
  return metadata === undefined || Object.keys(metadata).length === 0 ? {} : { providerOptions: metadata };
};

/** An object; `{}` where the provider gave nothing; the raw text where it is no JSON object (R17 tells the model). */
const inputOf = (text: unknown): unknown => {
  // Some providers give what their type says is text as the value itself.
  if (typeof text !== 'string') return text ?? {};
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : text;
  } catch {
    return text;
  }
};

const outputOf = ({ result, isError }: { result: JsonValue; isError?: boolean }): ToolOutput => {
  if (isError === true) return { type: 'error-json', value: result };
  return typeof result === 'string' ? { type: 'text', value: result } : { type: 'json', value: result };
};

type GivenFile = Extract<Content, { type: 'file' | 'reasoning-file' }>;

const fileOf = ({ data, mediaType }: GivenFile): Pick<FilePart, 'type' | 'data' | 'mediaType'> => ({
  type: 'file',
  data: data.type === 'url' ? (data.originalUrl ?? data.url.href) : base64Of(data.data, 'the file of the reply'),
  mediaType,
});

const callOf = (part: Extract<Content, { type: 'tool-call' }>): ToolCallPart => ({
  type: 'tool-call',
  toolCallId: part.toolCallId,
  toolName: part.toolName,
  input: inputOf(part.input),
  ...(part.providerExecuted === true ? { providerExecuted: true } : {}),
  ...kept(part.providerMetadata),
});

const unanswerable = (toolCallId: string): ModelError =>
  new ModelError(
    'model-request-failed',
    `the provider asks for the approval of its own tool call "${toolCallId}", which this adapter cannot answer; let the provider run the tool without asking`,
    { transient: false },
  );

const partsOf = (part: Content): ReplyPart[] => {
  if (!isPlainObject(part)) return [];
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const options = kept(part.providerMetadata);
      // An empty text may carry a signature; without one it says nothing.
      if (part.text === '' && options.providerOptions === undefined) return [];
      return [{ type: part.type, text: part.text, ...options }];
    }
    case 'custom':
      return [{ type: 'reasoning', text: '', ...kept(part.providerMetadata, { custom: part.kind }) }];
    case 'file':
      return [{ ...fileOf(part), ...kept(part.providerMetadata) }];
    case 'reasoning-file':
      return [{ ...fileOf(part), ...kept(part.providerMetadata, { reasoningFile: true }) }];
    case 'tool-call':
      return [callOf(part)];
    case 'tool-result': {
      // The final result follows a preliminary one.
      if (part.preliminary === true) return [];
      const { toolCallId, toolName } = part;
      return [{ type: 'tool-result', toolCallId, toolName, output: outputOf(part), ...kept(part.providerMetadata) }];
    }
    case 'tool-approval-request':
      throw unanswerable(part.toolCallId);
    case 'source':
      return [];
    default:
      // A kind that a later provider knows.
      part satisfies never;
      return [];
  }
};

/** The assistant message that a provider's content is, in its order. What it cites stands in the notes of the message. */
export const messageOf = (content: readonly Content[]): AssistantMessage => {
  const sources = content.filter((part) => isPlainObject(part) && part.type === 'source');
  return {
    role: 'assistant',
    content: content.flatMap(partsOf),
    ...(sources.length === 0 ? {} : { providerOptions: withNotes(undefined, { sources }) }),
  };
};
