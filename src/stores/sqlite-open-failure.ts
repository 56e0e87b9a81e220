/** SQLite says only that it could not open the file; this says why, where it is one of the two usual reasons. */
export const openFailure = (path: string, thrown: unknown): Error => {
  const { statSync } = process.getBuiltinModule('node:fs');
  const { dirname } = process.getBuiltinModule('node:path');
  const find = (place: string) => statSync(place, { throwIfNoEntry: false });
  const reason = (): string => {
    const said = thrown instanceof Error ? thrown.message : String(thrown);
    if (find(path)?.isDirectory() === true) return `${said}: it is a folder`;
    return find(dirname(path)) === undefined ? `${said}: its folder does not exist` : said;
  };
  try {
    return new Error(reason(), { cause: thrown });
  } catch {
    // The path itself is what the file system refuses.
    return new Error('unable to open database file', { cause: thrown });
  }
};
