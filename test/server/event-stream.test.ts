import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventStream } from '../../src/server/event-stream.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Values that come when the test says so. */
const held = () => {
  let controller: ReadableStreamDefaultController<unknown> | undefined;
  let left: unknown;
  const values = new ReadableStream<unknown>({
    start: (given) => {
      controller = given;
    },
    cancel: (reason) => {
      left = reason;
    },
  });
  const reader = eventStream(values, { last: '[DONE]' }).body?.pipeThrough(new TextDecoderStream()).getReader();
  return {
    say: (value: unknown) => controller?.enqueue(value),
    end: () => controller?.close(),
    left: () => left,
    read: async () => (await reader?.read())?.value,
    leave: (reason: string) => reader?.cancel(reason),
  };
};

test('while nothing comes a comment tells now and then that the connection lives, and nothing is lost', async () => {
  const { say, end, read } = held();
  for (const _time of [1, 2]) {
    const comment = read();
    await vi.advanceTimersByTimeAsync(14_999);
    await expect(Promise.race([comment, Promise.resolve('nothing yet')])).resolves.toBe('nothing yet');
    await vi.advanceTimersByTimeAsync(1);
    expect(await comment).toBe(':\n\n');
  }
  say({ n: 1 });
  say({ n: 2 });
  expect([await read(), await read()]).toEqual(['data: {"n":1}\n\n', 'data: {"n":2}\n\n']);
  end();
  expect([await read(), await read()]).toEqual(['data: [DONE]\n\n', undefined]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a client that leaves in the silence ends it, and leaves no timer', async () => {
  const { read, leave, left } = held();
  void read();
  await vi.advanceTimersByTimeAsync(10);
  expect(vi.getTimerCount()).toBe(1);
  await leave('gone');
  await vi.advanceTimersByTimeAsync(0);
  expect([left(), vi.getTimerCount()]).toEqual(['gone', 0]);
});
