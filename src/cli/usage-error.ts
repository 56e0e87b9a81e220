/** The command was not given as it is meant: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
