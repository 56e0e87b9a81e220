import type { ChatCompletionContentPart } from 'openai/resources/chat/completions';
import type { FilePart, ProviderOptions, TextPart } from '../../messages/message.ts';
import type { JsonObject } from '../../messages/json.ts';

/** The fields of one provider: what others left stays with them. */
export const ownFields = (of: { providerOptions?: ProviderOptions }, provider: string): JsonObject =>
  of.providerOptions?.[provider] ?? {};

const isUrl = (data: string): boolean => /^(https?|data):/i.test(data);

const audioFormat = (mediaType: string): 'wav' | 'mp3' | undefined => {
  if (/^audio\/(x-)?wav$/.test(mediaType)) return 'wav';
  return /^audio\/(mpeg|mp3)$/.test(mediaType) ? 'mp3' : undefined;
};

/** Chat Completions has images by URL, audio and documents by content. A document by URL goes as its address, as text. */
const filePart = (part: FilePart, provider: string): ChatCompletionContentPart => {
  const own = ownFields(part, provider);
  const mediaType = part.mediaType === 'image' || part.mediaType === 'image/*' ? 'image/jpeg' : part.mediaType;
  const url = isUrl(part.data) ? part.data : `data:${mediaType};base64,${part.data}`;
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: { ...own, url } };
  if (/^https?:/i.test(url)) return { type: 'text', text: `${part.filename ?? 'file'}: ${url}` };
  const format = audioFormat(mediaType);
  if (format !== undefined) {
    return { type: 'input_audio', input_audio: { ...own, data: url.slice(url.indexOf(',') + 1), format } };
  }
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
