/** The bytes of a binary value (`Uint8Array`, a Node `Buffer`, `ArrayBuffer`, `DataView`); other typed arrays are lists of numbers. */
export const bytesOf = (value: unknown): Uint8Array | undefined => {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (value instanceof DataView || value instanceof Uint8ClampedArray) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  return undefined;
};

const signatures: readonly (readonly [mediaType: string, offset: number, text: string])[] = [
  ['image/png', 1, 'PNG\r\n'],
  ['image/jpeg', 0, '\u00ff\u00d8\u00ff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['application/pdf', 0, '%PDF-'],
];

/** By the first bytes; `application/octet-stream` where they say nothing. */
export const mediaTypeOf = (bytes: Uint8Array): string => {
  const head = String.fromCharCode(...bytes.subarray(0, 16));
  return signatures.find(([, offset, text]) => head.startsWith(text, offset))?.[0] ?? 'application/octet-stream';
};
