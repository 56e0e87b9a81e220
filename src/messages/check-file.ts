import { toBase64 } from './base64.ts';
import { fieldsOf, optionalText, refuse, stringOf } from './check-json.ts';
import type { FilePart } from './message.ts';

const bytesOf = (value: unknown): Uint8Array | undefined => {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
};

/** Binary or base64 text (also URL-safe, also in lines) as standard base64. */
export const base64Of = (value: unknown, path: string, allowed = 'base64 text or binary data'): string => {
  const bytes = bytesOf(value);
  if (bytes !== undefined) return bytes.length > 0 ? toBase64(bytes) : refuse(path, value, 'data that is not empty');
  if (typeof value !== 'string') return refuse(path, value, allowed);
  const text = value.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? text : refuse(path, value, allowed);
};

/** Plain text as base64 of its UTF-8 bytes. */
const encodeText = (value: unknown, path: string): string =>
  base64Of(new TextEncoder().encode(stringOf(value, path)), path);

const urlOf = (value: unknown, path: string): string => {
  const url = value instanceof URL ? value.href : stringOf(value, path);
  return /^(https?|data):/i.test(url) ? url : refuse(path, url, 'an https:, http: or data: URL');
};

/** All forms of the AI SDK's file data but provider references, as one string. */
const dataOf = (value: unknown, path: string): string => {
  const allowed = 'base64 text, binary data, a URL, { type: "data" | "url" | "text", … }';
  if (value instanceof URL || (typeof value === 'string' && /^(https?|data):/i.test(value))) return urlOf(value, path);
  if (typeof value === 'string' || bytesOf(value) !== undefined) return base64Of(value, path, allowed);
  const tagged = fieldsOf(value, path, allowed);
  switch (tagged.type) {
    case 'data':
      return base64Of(tagged.data, `${path}.data`);
    case 'url':
      return urlOf(tagged.url, `${path}.url`);
    case 'text':
      return encodeText(tagged.text, `${path}.text`);
    default:
      return refuse(path, value, allowed);
  }
};

/** The first characters, in base64, of image formats that models take. */
const signatures = { iVBORw0KGgo: 'image/png', '/9j/': 'image/jpeg', R0lGOD: 'image/gif', UklGR: 'image/webp' };

const imageTypeOf = (data: string): string => {
  const named = /^data:([^;,]+)/i.exec(data)?.[1];
  return named ?? Object.entries(signatures).find(([start]) => data.startsWith(start))?.[1] ?? 'image/*';
};

const mediaTypeOf = (value: unknown, path: string): string =>
  typeof value === 'string' && value !== '' ? value : refuse(path, value, 'a media type such as "image/png"');

/** A `file` part, or the AI SDK's older `image` part, in our form: its data is one string. */
export const filePartOf = (fields: Record<string, unknown>, path: string): FilePart => {
  if (fields.type === 'image') {
    const data = dataOf(fields.image, `${path}.image`);
    const mediaType =
      fields.mediaType === undefined ? imageTypeOf(data) : mediaTypeOf(fields.mediaType, `${path}.mediaType`);
    return { type: 'file', data, mediaType };
  }
  return {
    type: 'file',
    data: dataOf(fields.data, `${path}.data`),
    mediaType: mediaTypeOf(fields.mediaType, `${path}.mediaType`),
    ...optionalText(fields, 'filename', path),
  };
};
