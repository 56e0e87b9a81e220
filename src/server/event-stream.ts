const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Proxies that wait for more before they send would hold every word back.
  'x-accel-buffering': 'no',
};

/** Read as it is asked for. Whoever cancels it leaves the values. */
export const readableOf = <T>(values: AsyncIterator<T>): ReadableStream<T> =>
  new ReadableStream<T>({
    pull: async (controller) => {
      const next = await values.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: async () => {
      await values.return?.();
    },
  });

/** ms. Proxies cut a connection on which nothing has come for a minute or so. */
const longestSilence = 15_000;

/** The next value, or `undefined` where it takes longer than that. */
const withinSilence = async <T>(next: Promise<T>): Promise<T | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, longestSilence, undefined);
  });
  try {
    return await Promise.race([next, silence]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Values as server-sent events, one JSON text each, and `last` at the end. While none comes, a comment tells that the connection lives. What
 * goes wrong on the way breaks the stream off.
 */
export const eventStream = (
  values: ReadableStream<unknown>,
  { last, more = {} }: { last?: string; more?: Record<string, string> } = {},
): Response => {
  const encoder = new TextEncoder();
  const reader = values.getReader();
  let next: ReturnType<typeof reader.read> | undefined;
  const lines = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const write = (line: string): void => controller.enqueue(encoder.encode(`${line}\n\n`));
      next ??= reader.read();
      const found = await withinSilence(next);
      if (found === undefined) {
        write(':');
        return;
      }
      next = undefined;
      if (!found.done) {
        write(`data: ${JSON.stringify(found.value)}`);
        return;
      }
      if (last !== undefined) write(`data: ${last}`);
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(lines, { headers: { ...headers, ...more } });
};
