/** ms for which a look at the file counts. */
const interval = 250;

/** The same place also where the process goes to another folder. */
const absolute = (path: string): string => {
  try {
    return process.getBuiltinModule('node:path').resolve(path);
  } catch {
    return path;
  }
};

/** Tells which file lies at a path: undefined where there is none, or where that cannot be known. */
const fileAt = (path: string): string | undefined => {
  try {
    const { statSync } = process.getBuiltinModule('node:fs');
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
};

/**
 * A file that is open, and the path by which others find it. A file that is moved or deleted can still be written, and what is written is lost
 * with the process.
 */
export class FilePlace {
  readonly #path: string;
  readonly #file: string | undefined;
  #isThere = true;
  #looked = performance.now();

  constructor(path: string) {
    this.#path = absolute(path);
    this.#file = fileAt(this.#path);
  }

  /** Throws where another file lies at the path now, or none; that is found out within a quarter of a second. */
  check(): void {
    // One that is no file, such as `:memory:`, is nobody else's to move.
    if (this.#file === undefined) return;
    const now = performance.now();
    if (!this.#isThere || now - this.#looked >= interval) {
      this.#looked = now;
      this.#isThere = fileAt(this.#path) === this.#file;
    }
    if (!this.#isThere)
      throw new Error(
        'it was moved or deleted while it was open; put it back, or close the store and open another one',
      );
  }
}
