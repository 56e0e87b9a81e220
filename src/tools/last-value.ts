export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** A stream of values: each is shown as progress, the last one is the result. */
export const lastOf = async (
  values: AsyncIterable<unknown>,
  show: (value: unknown) => void,
  signal: AbortSignal,
): Promise<unknown> => {
  let last: unknown;
  for await (const value of values) {
    // Nobody waits for it any more: leaving the loop lets the tool clean up.
    signal.throwIfAborted();
    last = value;
    show(value);
  }
  return last;
};
