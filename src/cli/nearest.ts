/** How many letters have to be changed, added or left out to make one word of the other. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of a.split('').entries()) {
    const above = row;
    row = [i + 1];
    for (const [j, other] of b.split('').entries()) {
      const change = (above[j] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(change, (above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
  }
  return row.at(-1) ?? 0;
};

/** The word that was probably meant: one that begins so, or that differs in at most two letters. */
export const nearest = (given: string, words: readonly string[]): string | undefined => {
  const begun = words.filter((word) => given !== '' && word.startsWith(given));
  const [best] = words
    .map((word) => ({ word, far: begun.includes(word) ? 0 : distance(given, word) }))
    .toSorted((a, b) => a.far - b.far);
  return best !== undefined && best.far <= Math.min(2, given.length - 1) ? best.word : undefined;
};
