/** 64 bits of FNV-1a as 16 hex digits, in two halves. Good enough to suspect that two texts are equal, not to prove anything. */
export const digest = (text: string): string => {
  let high = 0x811c9dc5;
  let low = 0xc9dc5118;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193) >>> 0;
    low = Math.imul(low ^ (code + index), 0x01000193) >>> 0;
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
};
