const isHighSurrogate = (code: number): boolean => code >= 0xd8_00 && code <= 0xdb_ff;

/** The first `maxChars` UTF-16 units, one less where that would part a pair. Well-formed. */
export const headOf = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text.toWellFormed();
  const end = maxChars > 0 && isHighSurrogate(text.charCodeAt(maxChars - 1)) ? maxChars - 1 : maxChars;
  return text.slice(0, end).toWellFormed();
};

/**
 * `text` itself, well-formed, or its first `maxChars` UTF-16 units and a line that says how much is missing (the line comes on
 * top of `maxChars`).
 */
export const truncateText = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text.toWellFormed();
  const head = headOf(text, maxChars);
  const cut = `${head}\n[cut: the first ${head.length} of ${text.length} characters are shown]`;
  // A slice keeps the whole text alive in V8; a parsed copy does not.
  return JSON.parse(JSON.stringify(cut)) as string;
};
