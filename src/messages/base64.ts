/** Bytes as base64, without `node:`. */
export const toBase64 = (bytes: Uint8Array): string => {
  let text = '';
  // A multiple of 3, so that the pieces join without padding; small enough for an argument list.
  for (let start = 0; start < bytes.length; start += 0x6000)
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + 0x6000)));
  return text;
};
