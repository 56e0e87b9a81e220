/** A text that grows by many small pieces. */
export interface GrowingText {
  add(piece: string): void;
  text(): string;
}

const blockSize = 1_024;

/** Whole blocks, since a string made by `+=` keeps every piece that it is made of. */
export const createGrowingText = (first: string): GrowingText => {
  const blocks: string[] = [];
  let pieces = [first];
  return {
    add: (piece) => {
      if (pieces.push(piece) < blockSize) return;
      blocks.push(pieces.join(''));
      pieces = [];
    },
    text: () => [...blocks, ...pieces].join(''),
  };
};
