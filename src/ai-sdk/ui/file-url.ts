import type { FilePart } from '../../messages/message.ts';

/** A page takes URLs alone. */
export const fileUrl = ({ data, mediaType }: Pick<FilePart, 'data' | 'mediaType'>): string =>
  /^(https?|data):/i.test(data) ? data : `data:${mediaType};base64,${data}`;
