export const fonts = { name: 14, line: 11.5, label: 11.5 };
export const lineHeight = 15;

/** Widths for any sans-serif font: rather too wide than too narrow, since a picture can't ask the viewer's font. */
const widthOf = (char: string): number => {
  if ("ijl|.,:;'!()[]/ ".includes(char)) return 0.36;
  if ('mwMW@%'.includes(char)) return 0.92;
  if (char > '\u2e80') return 1.05;
  return char >= 'A' && char <= 'Z' ? 0.72 : 0.6;
};

export const textWidth = (text: string, fontSize: number): number =>
  Array.from(text).reduce((sum, char) => sum + widthOf(char) * fontSize, 0);

/** A name with lines below it. */
export const sizeOfText = (name: string, lines: readonly string[]): { width: number; height: number } => ({
  width: Math.max(
    56,
    textWidth(name, fonts.name) * 1.05 + 24,
    ...lines.map((line) => textWidth(line, fonts.line) + 24),
  ),
  height: 34 + lines.length * lineHeight,
});

/** The text at an arrow; nothing when there are no lines. */
export const sizeOfLines = (lines: readonly string[]): { width: number; height: number } => ({
  width: lines.length === 0 ? 0 : Math.max(...lines.map((line) => textWidth(line, fonts.label))) + 6,
  height: lines.length * lineHeight,
});
