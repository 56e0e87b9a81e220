/** The program was called in a way that it cannot work with; the message says what to do. Exit status 2. */
export class UsageError extends Error {}
