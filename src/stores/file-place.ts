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

/** SQLite writes its log beside the file itself, not beside a link to it. */
const logOf = (path: string): string => {
  try {
    return `${process.getBuiltinModule('node:fs').realpathSync(path)}-wal`;
  } catch {
    return `${path}-wal`;
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
 * A file that is open, and the path by which others find it; with it the log, in which the last commits are. What is moved or deleted can still be
 * written, and what is written is lost with the process.
 */
export class FilePlace {
  readonly #files: readonly { path: string; file: string; name: string }[];
  #gone: string | undefined;
  #looked = performance.now();

  constructor(given: string) {
    const path = absolute(given);
    const log = logOf(path);
    const open = [
      { path, name: 'it' },
      { path: log, name: `its log "${log}"` },
    ];
    // One that is no file, such as `:memory:`, is nobody else's to move.
    this.#files = open.flatMap((each) => {
      const file = fileAt(each.path);
      return file === undefined ? [] : [{ ...each, file }];
    });
  }

  /** Throws where another file lies at a path now, or none; that is found out within a quarter of a second. */
  check(): void {
    const now = performance.now();
    if (this.#gone !== undefined || now - this.#looked >= interval) {
      this.#looked = now;
      this.#gone = this.#files.find(({ path, file }) => fileAt(path) !== file)?.name;
    }
    if (this.#gone !== undefined)
      throw new Error(
        `${this.#gone} was moved or deleted while it was open; put it back, or close the store and open another one`,
      );
  }
}
