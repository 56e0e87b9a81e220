const codes = { readOnly: 8, cannotOpen: 14 } as const;

/** SQLite says only that it could not open the file, or not write it; this says why, where it is one of the usual reasons. */
export const openFailure = (path: string, thrown: unknown): Error => {
  const { accessSync, constants, statSync } = process.getBuiltinModule('node:fs');
  const { dirname } = process.getBuiltinModule('node:path');
  const find = (place: string) => statSync(place, { throwIfNoEntry: false });
  const isWritable = (place: string): boolean => {
    try {
      accessSync(place, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  };
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const reason = (): string => {
    const folder = dirname(path);
    if (find(path)?.isDirectory() === true) return `${said}: it is a folder`;
    if (find(folder) === undefined) return `${said}: its folder does not exist`;
    // What SQLite writes it writes beside the file first, also where only to read is asked for.
    return isWritable(folder) ? said : `${said}: its folder must be writable, and is not for this process`;
  };
  // What else may be wrong has said so itself.
  const code = Number((thrown as { errcode?: unknown } | null)?.errcode) & 0xff;
  if (code !== codes.readOnly && code !== codes.cannotOpen) return new Error(said, { cause: thrown });
  try {
    return new Error(reason(), { cause: thrown });
  } catch {
    // The path itself is what the file system refuses.
    return new Error('unable to open database file', { cause: thrown });
  }
};
