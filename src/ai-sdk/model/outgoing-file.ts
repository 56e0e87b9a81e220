import { base64Of } from '../../messages/check-file.ts';
import type { FilePart } from '../../messages/message.ts';
import type { SentFileData } from './provider-types.ts';

const readText = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const urlData = (text: string): Extract<SentFileData, { type: 'url' }> => {
  const url = new URL(text);
  return url.href === text ? { type: 'url', url } : { type: 'url', url, originalUrl: text };
};

type SentFile = Pick<FilePart, 'mediaType'> & { data: Extract<SentFileData, { type: 'data' | 'url' }> };

/** A file as providers take it: base64 or a URL; the media type of a `data:` URL is the one that counts. */
export const sentFile = ({ data, mediaType }: Pick<FilePart, 'data' | 'mediaType'>): SentFile => {
  if (/^https?:/i.test(data)) return { data: urlData(data), mediaType };
  const found = /^data:([^,]*?)(;base64)?,/i.exec(data);
  if (found === null) return { data: { type: 'data', data }, mediaType };
  const [head, named = '', isBase64] = found;
  const body = data.slice(head.length);
  return {
    data: {
      type: 'data',
      data:
        isBase64 === undefined && body !== ''
          ? base64Of(new TextEncoder().encode(readText(body)), 'the data: URL')
          : body,
    },
    mediaType: named.split(';')[0] || mediaType,
  };
};
