import type { ChatCompletionContentPart } from 'openai/resources/chat/completions';
import type { FilePart, ProviderOptions, TextPart } from '../../messages/message.ts';
import type { JsonObject } from '../../messages/json.ts';
import { fileSource } from './file-source.ts';

/** The fields of one provider: what others left stays with them. */
export const ownFields = (of: { providerOptions?: ProviderOptions }, provider: string): JsonObject =>
  of.providerOptions?.[provider] ?? {};

/** Chat Completions has images by URL, audio and documents by content. A document by URL goes as its address, as text. */
const filePart = (part: FilePart, provider: string): ChatCompletionContentPart => {
  const own = ownFields(part, provider);
  const { url, isImage, isLink, audio } = fileSource(part);
  if (isImage) return { type: 'image_url', image_url: { ...own, url } };
  if (isLink) return { type: 'text', text: `${part.filename ?? 'file'}: ${url}` };
  if (audio !== undefined) return { type: 'input_audio', input_audio: { ...own, ...audio } };
  return { type: 'file', file: { ...own, filename: part.filename ?? 'file', file_data: url } };
};

export const contentParts = (parts: readonly (TextPart | FilePart)[], provider: string): ChatCompletionContentPart[] =>
  parts.map((part) =>
    part.type === 'text' ? { ...ownFields(part, provider), type: 'text', text: part.text } : filePart(part, provider),
  );

/** One plain text goes as a string: not every server takes a list. */
export const userContent = (
  content: string | readonly (TextPart | FilePart)[],
  provider: string,
): string | ChatCompletionContentPart[] => {
  if (typeof content === 'string') return content;
  const parts = contentParts(content, provider);
  const [first] = parts;
  return parts.length === 1 && first?.type === 'text' && Object.keys(first).length === 2 ? first.text : parts;
};
