import { APICallError, NoSuchModelError } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { aiSdkModel } from '../../src/ai-sdk/index.ts';
import type { StreamPart } from '../../src/ai-sdk/model/provider-types.ts';
import { ModelError } from '../../src/models/model-error.ts';
import { ask, askStreamed, call, hello, mockModel, streamed, usage, whole } from './mock.ts';

const thrownBy = async (promise: Promise<unknown>): Promise<ModelError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ModelError)) throw new Error(`no ModelError: ${String(error)}`);
  return error;
};

const apiError = (more: Partial<ConstructorParameters<typeof APICallError>[0]>) =>
  new APICallError({ message: 'no', url: 'https://a.test', requestBodyValues: {}, ...more });

const asking = (error: unknown) =>
  new MockLanguageModelV4({
    doGenerate: () => Promise.reject(error as Error),
    doStream: () => Promise.reject(error as Error),
  });

test('an error says which provider was asked', async () => {
  const model = asking(apiError({ statusCode: 401 }));
  for (const failing of [ask(model), askStreamed(model)])
    expect(await thrownBy(failing)).toMatchObject({ host: 'mock-provider' });
});

test.each([
  [
    { statusCode: 429, responseHeaders: { 'Retry-After': '2' } },
    { status: 429, transient: true, retryAfter: 2000 },
  ],
  [
    { statusCode: 503, responseHeaders: { 'retry-after-ms': '20' } },
    { status: 503, transient: true, retryAfter: 20 },
  ],
  [{ statusCode: 401 }, { status: 401, transient: false, retryAfter: undefined }],
  [
    { statusCode: 400, isRetryable: true },
    { status: 400, transient: true },
  ],
  [
    { isRetryable: true, message: 'Cannot connect to API' },
    { status: undefined, transient: true },
  ],
  [
    { statusCode: 400, message: 'prompt is too long: 9 tokens' },
    { status: 400, transient: false, overflow: true, message: 'prompt is too long: 9 tokens' },
  ],
  [
    { statusCode: 429, data: { error: { code: 'insufficient_quota' } } },
    { transient: false, providerCode: 'insufficient_quota' },
  ],
  [
    { statusCode: 400, responseBody: '{"error":{"code":"context_length_exceeded"}}' },
    { overflow: true, providerCode: 'context_length_exceeded' },
  ],
  [
    { statusCode: 200, message: 'Invalid JSON response' },
    { code: 'model-stream-broken', transient: true },
  ],
])('an APICallError with %j says %j', async (given, expected) => {
  for (const failing of [ask(asking(apiError(given))), askStreamed(asking(apiError(given)))]) {
    expect(await thrownBy(failing)).toMatchObject({ code: 'model-request-failed', overflow: false, ...expected });
  }
});

test('what will not pass is told from a lost connection', async () => {
  const missing = new NoSuchModelError({ modelId: 'x', modelType: 'languageModel' });
  expect(await thrownBy(ask(asking(missing)))).toMatchObject({ transient: false, cause: missing });
  expect(await thrownBy(ask(asking(new Error('a bug'))))).toMatchObject({ transient: false, message: 'a bug' });
  expect(await thrownBy(ask(asking(new TypeError('fetch failed'))))).toMatchObject({ transient: true });
});

test('R41: an error or an interruption as finish reason is no answer', async () => {
  const reply = (unified: 'error' | 'interrupted') =>
    mockModel(whole([{ type: 'text', text: 'par' }], { finishReason: { unified, raw: 'overloaded' } }));
  expect(await thrownBy(ask(reply('error')))).toMatchObject({ code: 'model-request-failed', transient: true });
  expect(await thrownBy(askStreamed(reply('interrupted')))).toMatchObject({
    code: 'model-stream-broken',
    transient: true,
  });
});

test.each<[string, StreamPart[], object]>([
  ['without finish', [], { code: 'model-stream-broken', transient: true }],
  [
    'with an error object',
    [{ type: 'error', error: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } }],
    { code: 'model-request-failed', message: 'Overloaded', transient: true, providerCode: 'overloaded_error' },
  ],
  [
    'with a refused request',
    [{ type: 'error', error: { error: { type: 'invalid_request_error', message: 'bad', code: 400 } } }],
    { message: 'bad', status: 400, transient: false },
  ],
  ['with an APICallError', [{ type: 'error', error: apiError({ statusCode: 503 }) }], { status: 503, transient: true }],
  ['with a text', [{ type: 'error', error: 'gone' }], { message: 'gone', transient: true }],
])('R41: a stream that ends %s fails', async (_, parts, expected) => {
  const begun: StreamPart[] = [
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'par' },
  ];
  const failing = askStreamed(new MockLanguageModelV4({ doStream: streamed([...begun, ...parts]) }));
  expect(await thrownBy(failing)).toMatchObject(expected);
});

test('a stream whose connection is lost is broken', async () => {
  const stream = new ReadableStream<StreamPart>({
    pull: (controller) => controller.error(new TypeError('terminated')),
  });
  const failing = askStreamed(new MockLanguageModelV4({ doStream: { stream } }));
  expect(await thrownBy(failing)).toMatchObject({ code: 'model-stream-broken', transient: true });
});

test('a provider that wants its own tool call approved is told apart from an answer', async () => {
  const reply = whole([
    { ...call('m1', 'mcp'), providerExecuted: true },
    { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'm1' },
  ]);
  expect(await thrownBy(ask(mockModel(reply)))).toMatchObject({ transient: false });
});

test('both methods stop at once with the reason of the signal, also where the provider ignores it', async () => {
  const hanging = new MockLanguageModelV4({
    doGenerate: () => new Promise(() => undefined),
    doStream: () => Promise.resolve({ stream: new ReadableStream<StreamPart>() }),
  });
  const reason = new Error('enough');
  for (const begin of [
    (signal: AbortSignal) => aiSdkModel(hanging).generate(hello, { signal }),
    (signal: AbortSignal) => askStreamed(hanging, { signal }),
  ]) {
    const controller = new AbortController();
    const running = begin(controller.signal);
    setImmediate(() => controller.abort(reason));
    await expect(running).rejects.toBe(reason);
    await expect(begin(AbortSignal.abort(reason))).rejects.toBe(reason);
  }
});

test('leaving a stream cancels that of the provider', async () => {
  const cancelled = Promise.withResolvers<void>();
  const stream = new ReadableStream<StreamPart>({
    start: (controller) => {
      controller.enqueue({ type: 'text-delta', id: '1', delta: 'a' });
      controller.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage });
    },
    cancel: () => cancelled.resolve(),
  });
  const model = aiSdkModel(new MockLanguageModelV4({ doStream: { stream } }));
  for await (const chunk of model.stream?.(hello, { signal: new AbortController().signal }) ?? []) {
    expect(chunk.type).toBe('text-delta');
    break;
  }
  await cancelled.promise;
});
