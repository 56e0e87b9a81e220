import { simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { aiSdkModel, type AiSdkModelOptions, type LanguageModelV4 } from '../../src/ai-sdk/index.ts';
import type { Content, GenerateResult, StreamPart } from '../../src/ai-sdk/model/provider-types.ts';
import type { ModelChunk, ModelReply, ModelRequest } from '../../src/models/chat-model.ts';

export const usage: GenerateResult['usage'] = {
  inputTokens: { total: 10, noCache: 7, cacheRead: 3, cacheWrite: undefined },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
};

export const whole = (content: Content[], more: Partial<GenerateResult> = {}): GenerateResult => ({
  content,
  finishReason: { unified: content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop', raw: undefined },
  usage,
  warnings: [],
  ...more,
});

export const call = (
  toolCallId: string,
  toolName: string,
  input: unknown = {},
): Extract<Content, { type: 'tool-call' }> => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input: typeof input === 'string' ? input : JSON.stringify(input),
});

/** The same reply in pieces, as providers stream it. */
export const piecesOf = ({ content, finishReason, usage: used, response }: GenerateResult): StreamPart[] => [
  { type: 'stream-start', warnings: [] },
  { type: 'response-metadata', ...(response?.modelId === undefined ? {} : { modelId: response.modelId }) },
  ...content.flatMap((part, index): StreamPart[] => {
    const id = String(index);
    if (part.type === 'text' || part.type === 'reasoning') {
      const deltas = part.text.match(/\S+\s*/g) ?? [];
      const metadata = part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata };
      return [
        { type: `${part.type}-start`, id },
        ...deltas.map((delta): StreamPart => ({ type: `${part.type}-delta`, id, delta })),
        { type: `${part.type}-end`, id, ...metadata },
      ];
    }
    if (part.type !== 'tool-call') return [part];
    const { toolCallId, toolName, input } = part;
    const theirs = part.providerExecuted === undefined ? {} : { providerExecuted: part.providerExecuted };
    return [
      { type: 'tool-input-start', id: toolCallId, toolName, ...theirs },
      { type: 'tool-input-delta', id: toolCallId, delta: input.slice(0, 2) },
      { type: 'tool-input-delta', id: toolCallId, delta: input.slice(2) },
      { type: 'tool-input-end', id: toolCallId },
      part,
    ];
  }),
  { type: 'finish', finishReason, usage: used },
];

export const streamed = (parts: StreamPart[]) => ({
  stream: simulateReadableStream({ chunks: parts, initialDelayInMs: null, chunkDelayInMs: null }),
});

/** A provider that gives these replies in order, whole or in pieces, and keeps what it was asked. */
export const mockModel = (...replies: GenerateResult[]): MockLanguageModelV4 => {
  const rest = [...replies];
  const next = (): GenerateResult => {
    const reply = rest.shift();
    if (reply === undefined) throw new Error('the mock model was asked too often');
    return reply;
  };
  return new MockLanguageModelV4({
    doGenerate: () => Promise.resolve(next()),
    doStream: () => Promise.resolve(streamed(piecesOf(next()))),
  });
};

export const hello: ModelRequest = { messages: [{ role: 'user', content: 'hello' }] };

const never = (): AbortSignal => new AbortController().signal;

export const ask = (model: LanguageModelV4, request: Partial<ModelRequest> = {}, options: AiSdkModelOptions = {}) =>
  aiSdkModel(model, options).generate({ ...hello, ...request }, { signal: never() });

export const askStreamed = async (
  model: LanguageModelV4,
  { signal = never(), ...request }: Partial<ModelRequest> & { signal?: AbortSignal } = {},
): Promise<{ reply: ModelReply; chunks: ModelChunk[] }> => {
  const chunks: ModelChunk[] = [];
  for await (const chunk of aiSdkModel(model).stream?.({ ...hello, ...request }, { signal }) ?? []) chunks.push(chunk);
  const last = chunks.at(-1);
  if (last?.type !== 'finish') throw new Error('the stream ended without finish');
  return { reply: last.reply, chunks };
};

/** The reply whole and streamed: both must be the same. */
export const bothReplies = async (
  reply: GenerateResult,
  request: Partial<ModelRequest> = {},
): Promise<ModelReply[]> => [
  await ask(mockModel(reply), request),
  (await askStreamed(mockModel(reply), request)).reply,
];
