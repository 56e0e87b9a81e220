import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentError, type ChatModel, createAgent } from '../../src/index.ts';
import { rateLimit } from '../../src/middleware/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const request = { messages: [] };
const never = (): AbortSignal => new AbortController().signal;

/** A model whose requests end when the test says so. */
const heldModel = () => {
  const ends: (() => void)[] = [];
  const wait = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
  const reply = { message: { role: 'assistant' as const, content: 'hi' }, finishReason: 'stop' as const };
  const model: ChatModel = {
    name: 'held',
    generate: async () => (await wait(), reply),
    async *stream() {
      yield { type: 'text-delta', text: 'h' };
      await wait();
      yield { type: 'finish', reply };
    },
  };
  return { model, ends };
};

describe('rateLimit by time', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each(['generate', 'stream'] as const)('holds %s back until the interval has room', async (method) => {
    const model = scriptedModel(['1', '2', '3', '4', '5']);
    const limited = rateLimit({ requests: 2, interval: 1000 })(model);
    const ask = async (): Promise<void> => {
      if (method === 'generate') await limited.generate(request, { signal: never() });
      else for await (const _chunk of limited.stream?.(request, { signal: never() }) ?? []) void _chunk;
    };
    const all = [ask(), ask(), ask(), ask(), ask()];
    await vi.advanceTimersByTimeAsync(0);
    expect(model.requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(990);
    expect(model.requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(20);
    expect(model.requests).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(1010);
    await Promise.all(all);
    model.assertFinished();
  });

  it('who is stopped while he waits leaves the line and has used nothing up', async () => {
    const model = scriptedModel(['1', '2']);
    const limited = rateLimit({ requests: 1, interval: 1000 })(model);
    await limited.generate(request, { signal: never() });
    const stopped = new AbortController();
    const waiting = limited.generate(request, { signal: stopped.signal });
    const last = limited.generate(request, { signal: never() });
    stopped.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await vi.advanceTimersByTimeAsync(1010);
    expect((await last).finishReason).toBe('stop');
    model.assertFinished();
  });
});

it.each(['generate', 'stream'] as const)(
  'rateLimit lets as many %s at a time as it says, until each has ended',
  async (method) => {
    const { model, ends } = heldModel();
    const limit = rateLimit({ concurrency: 1 });
    const begun: number[] = [];
    const ask = async (index: number): Promise<void> => {
      // Two models, one limit.
      const limited = limit(model);
      if (method === 'generate') {
        await limited.generate(request, { signal: never() });
        begun.push(index);
        return;
      }
      for await (const chunk of limited.stream?.(request, { signal: never() }) ?? []) {
        if (chunk.type === 'text-delta') begun.push(index);
      }
    };
    const first = ask(1);
    const second = ask(2);
    await vi.waitFor(() => expect(ends).toHaveLength(1), 30_000);
    expect(begun).toEqual(method === 'generate' ? [] : [1]);
    ends[0]?.();
    await first;
    await vi.waitFor(() => expect(ends).toHaveLength(2), 30_000);
    ends[1]?.();
    await second;
    expect(begun).toEqual([1, 2]);
  },
);

it('rateLimit gives the place free when a request fails', async () => {
  const model = scriptedModel([new Error('gone'), 'hi']);
  const agent = createAgent({ model, modelMiddleware: [rateLimit({ concurrency: 1 })], retry: { attempts: 1 } });
  await expect(agent.run('hello')).rejects.toThrow('gone');
  expect((await agent.run('hello')).text).toBe('hi');
});

it.each([
  { requests: 0 },
  { requests: 1.5 },
  { requests: 1, interval: 0 },
  { concurrency: Number.NaN },
  { request: 1 },
  undefined,
])('rateLimit refuses %j', (options) => {
  expect(() => rateLimit(options as object)).toThrow(AgentError);
  expect(() => rateLimit(options as object)).toThrow(/^rateLimit: .*option/);
});
