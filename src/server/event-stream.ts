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

/** Values as server-sent events, one JSON text each, and `last` at the end. What goes wrong on the way breaks the stream off. */
export const eventStream = (
  values: ReadableStream<unknown>,
  { last, more = {} }: { last?: string; more?: Record<string, string> } = {},
): Response => {
  const encoder = new TextEncoder();
  const line = (text: string): Uint8Array => encoder.encode(`data: ${text}\n\n`);
  const lines = new TransformStream<unknown, Uint8Array>({
    transform: (value, controller) => controller.enqueue(line(JSON.stringify(value))),
    flush: (controller) => {
      if (last !== undefined) controller.enqueue(line(last));
    },
  });
  return new Response(values.pipeThrough(lines), { headers: { ...headers, ...more } });
};
