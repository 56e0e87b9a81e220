import type { FilePart } from '../../messages/message.ts';

/** A file as both APIs want it. */
export interface FileSource {
  /** The address, or the content as a `data:` URL. */
  url: string;
  isImage: boolean;
  /** It lies elsewhere: `url` is no `data:` URL. */
  isLink: boolean;
  /** Its content, where it is audio of a format that can be sent. */
  audio?: { data: string; format: 'wav' | 'mp3' };
}

const audioFormat = (mediaType: string): 'wav' | 'mp3' | undefined => {
  if (/^audio\/(x-)?wav$/.test(mediaType)) return 'wav';
  return /^audio\/(mpeg|mp3)$/.test(mediaType) ? 'mp3' : undefined;
};

export const fileSource = (part: FilePart): FileSource => {
  const mediaType = part.mediaType === 'image' || part.mediaType === 'image/*' ? 'image/jpeg' : part.mediaType;
  const url = /^(https?|data):/i.test(part.data) ? part.data : `data:${mediaType};base64,${part.data}`;
  const isLink = /^https?:/i.test(url);
  const format = isLink ? undefined : audioFormat(mediaType);
  return {
    url,
    isImage: mediaType.startsWith('image/'),
    isLink,
    ...(format === undefined ? {} : { audio: { data: url.slice(url.indexOf(',') + 1), format } }),
  };
};
