import { toBase64 } from '../messages/base64.ts';
import { isPlainObject } from '../messages/json.ts';
import type { ContentPart } from '../messages/message.ts';
import { bytesOf, mediaTypeOf } from './bytes.ts';

const dataPart = (base64: string, media: string, filename?: unknown): ContentPart => {
  const data = base64.toWellFormed();
  const mediaType = media.toWellFormed();
  if (mediaType.startsWith('image/')) return { type: 'image-data', data, mediaType };
  const named = typeof filename === 'string' ? { filename: filename.toWellFormed() } : {};
  return { type: 'file-data', data, mediaType, ...named };
};

const base64Of = (data: unknown): string | undefined => {
  if (typeof data === 'string') return data === '' ? undefined : data;
  const bytes = bytesOf(data);
  return bytes === undefined ? undefined : toBase64(bytes);
};

/** The tagged data of a `file` part: `{ type: 'data', data }` or `{ type: 'text', text }`. */
const filePart = (part: Record<string, unknown>): ContentPart | undefined => {
  const { data, mediaType, filename } = part;
  if (typeof mediaType !== 'string') return undefined;
  if (isPlainObject(data) && data['type'] === 'text' && typeof data['text'] === 'string') {
    return { type: 'text', text: data['text'].toWellFormed() };
  }
  const base64 = base64Of(isPlainObject(data) && data['type'] === 'data' ? data['data'] : data);
  return base64 === undefined ? undefined : dataPart(base64, mediaType, filename);
};

const resourcePart = (resource: unknown): ContentPart | undefined => {
  if (!isPlainObject(resource)) return undefined;
  const { text, blob, mimeType } = resource;
  if (typeof text === 'string') return { type: 'text', text: text.toWellFormed() };
  if (typeof blob !== 'string') return undefined;
  return dataPart(blob, typeof mimeType === 'string' ? mimeType : 'application/octet-stream');
};

const toPart = (part: unknown): ContentPart | undefined => {
  if (!isPlainObject(part)) return undefined;
  switch (part['type']) {
    case 'text':
      return typeof part['text'] === 'string' ? { type: 'text', text: part['text'].toWellFormed() } : undefined;
    // MCP
    case 'image':
    case 'audio':
      return filePart({ data: part['data'], mediaType: part['mimeType'] ?? part['mediaType'] });
    case 'resource':
      return resourcePart(part['resource']);
    // AI SDK
    case 'file':
    case 'file-data':
    case 'image-data':
    case 'media':
      return filePart(part);
    default:
      return undefined;
  }
};

const toParts = (parts: readonly unknown[]): ContentPart[] | undefined => {
  if (parts.length === 0) return undefined;
  const result: ContentPart[] = [];
  for (const part of parts) {
    const converted = toPart(part);
    if (converted === undefined) return undefined;
    result.push(converted);
  }
  return result;
};

const mcpKeys = new Set(['content', 'isError', 'structuredContent', '_meta']);

/** What a tool of MCP answers: `{ content: [...], isError? }`. */
export const isMcpResult = (
  value: unknown,
): value is { content: unknown[]; isError?: unknown; structuredContent?: unknown } =>
  isPlainObject(value) && Array.isArray(value['content']) && Object.keys(value).every((key) => mcpKeys.has(key));

/**
 * Content parts, where the whole value is one: bytes (PNG, JPEG, GIF, WebP and PDF are known by their first bytes), a part or a
 * list of parts in the form of the AI SDK (`text`, `file`, `file-data`, `image-data`, `media`) or of MCP (`text`, `image`, `audio`,
 * `resource`), an MCP result. `undefined` for everything else, also where a list is empty or one part of it is unknown. May throw where reading the value does.
 */
export const toContentParts = (value: unknown): ContentPart[] | undefined => {
  const bytes = bytesOf(value);
  if (bytes !== undefined) return [dataPart(toBase64(bytes), mediaTypeOf(bytes))];
  if (isMcpResult(value)) return toParts(value.content);
  if (Array.isArray(value)) return toParts(value);
  const part = toPart(value);
  return part === undefined ? undefined : [part];
};
