import {
  createUIMessageStreamResponse,
  parseJsonEventStream,
  readUIMessageStream,
  uiMessageChunkSchema,
  type UIMessage,
  type UIMessageChunk,
} from 'ai';
import { expect, test } from 'vitest';
import { aiSdkModel, toUIMessageStream, toUIMessages, type UIStreamOptions } from '../../src/ai-sdk/index.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import type { RunStream } from '../../src/sessions/agent.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { ChatModel } from '../../src/models/chat-model.ts';
import { ModelError } from '../../src/models/model-error.ts';
import { heldTool, toolOf } from '../support/tools.ts';
import { call, mockModel, whole } from './mock.ts';

const read = async (
  stream: ReadableStream<UIMessageChunk>,
): Promise<{ chunks: UIMessageChunk[]; message: UIMessage }> => {
  const [left, right] = stream.tee();
  const chunks: UIMessageChunk[] = [];
  const collecting = (async () => {
    for await (const chunk of left) chunks.push(chunk);
  })();
  let message: UIMessage | undefined;
  const errors: unknown[] = [];
  const reader = readUIMessageStream({ stream: right, onError: (error) => errors.push(error) });
  for await (const state of reader) message = state;
  await collecting;
  // A page hears of errors only by chunks that say so.
  expect(errors).toHaveLength(chunks.filter(({ type }) => type === 'error').length);
  return { chunks, message: message ?? { id: '', role: 'assistant', parts: [] } };
};

const show = (run: RunStream | AsyncIterable<AgentEvent>, options?: UIStreamOptions) =>
  read(toUIMessageStream(run, options));
const typesOf = (chunks: UIMessageChunk[]): string[] => chunks.map(({ type }) => type);

const add = toolOf('add', ({ a }) => Number(a) + 1);
const fail = toolOf('fail', () => {
  throw new Error('secret');
});

test('a run with two parallel calls, one of which fails', async () => {
  const model = mockModel(
    whole([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'I add.' },
      call('p1', 'add', { a: 1 }),
      call('p2', 'fail', {}),
    ]),
    whole([{ type: 'text', text: 'It is 2.' }]),
  );
  const agent = createAgent({ model: aiSdkModel(model), tools: [add, fail] });
  const { chunks, message } = await show(agent.stream('go'), {
    messageId: 'm1',
    messageMetadata: ({ usage }) => ({ tokens: usage.totalTokens }),
  });
  // Which of the two ends first is open.
  const types = typesOf(chunks).map((type) => type.replace(/^(tool-output)-.*/, '$1'));
  const expected = [
    'start start-step reasoning-start reasoning-delta reasoning-end',
    'text-start text-delta text-delta text-end',
    'tool-input-start tool-input-delta tool-input-delta',
    'tool-input-start tool-input-delta',
    'tool-input-available tool-input-available tool-output tool-output finish-step',
    'start-step text-start text-delta text-delta text-delta text-end finish-step finish',
  ];
  expect(types).toEqual(expected.flatMap((line) => line.split(' ')));
  expect(message).toMatchObject({ id: 'm1', metadata: { tokens: 30 } });
  expect(message.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'reasoning', text: 'hm', state: 'done' },
    { type: 'text', text: 'I add.', state: 'done' },
    { type: 'tool-add', toolCallId: 'call_1_0', state: 'output-available', input: { a: 1 }, output: 2 },
    { type: 'tool-fail', toolCallId: 'call_1_1', state: 'output-error', errorText: 'Error: the tool failed.' },
    { type: 'step-start' },
    { type: 'text', text: 'It is 2.', state: 'done' },
  ]);
  expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
  expect(JSON.stringify(chunks)).not.toContain('secret');
});

test('createUIMessageStreamResponse takes the stream, and every chunk fits the schema of the AI SDK', async () => {
  const gated = toolOf('gated', () => 'ok', { needsApproval: true });
  const model = mockModel(whole([call('p1', 'add', { a: 1 }), call('p2', 'gated', { b: 1 })]));
  const agent = createAgent({ model: aiSdkModel(model), tools: [add, gated], approvals: { hold: 'gated' } });
  const response = createUIMessageStreamResponse({ stream: toUIMessageStream(agent.stream('go')) });
  expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
  if (response.body === null) throw new Error('no body');
  const found: UIMessageChunk[] = [];
  for await (const item of parseJsonEventStream({ stream: response.body, schema: uiMessageChunkSchema })) {
    if (!item.success) throw item.error;
    found.push(item.value);
  }
  expect(found.find(({ type }) => type === 'tool-approval-request')).toEqual({
    type: 'tool-approval-request',
    approvalId: 'call_1_1',
    toolCallId: 'call_1_1',
    approvalDescriptor: { inputHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
  });
  expect(typesOf(found)).toContain('tool-output-available');
  expect(found.at(-1)).toEqual({ type: 'finish', finishReason: 'tool-calls' });
});

test('in a later turn a first call is shown when it is made, later ones while they are written', async () => {
  const model = mockModel(
    whole([call('p1', 'add', { a: 1 })]),
    whole([{ type: 'text', text: 'one' }]),
    whole([call('p2', 'add', { a: 2 })]),
    whole([call('p3', 'add', { a: 3 })]),
    whole([{ type: 'text', text: 'two' }]),
  );
  const agent = createAgent({ model: aiSdkModel(model), tools: [add] });
  const { sessionId } = await agent.run('go');
  const { chunks } = await show(agent.stream('go on', { session: sessionId }));
  const starts = chunks.flatMap((chunk) => (chunk.type === 'tool-input-start' ? [chunk.toolCallId] : []));
  expect(starts).toEqual(['call_3_0']);
  const available = chunks.flatMap((chunk) => (chunk.type === 'tool-input-available' ? [chunk.toolCallId] : []));
  expect(available).toEqual(['call_2_0', 'call_3_0']);
});

test('progress of a tool is a preliminary output', async () => {
  const slow = toolOf('slow', async function* () {
    yield await Promise.resolve('half');
    yield 'whole';
  });
  const model = mockModel(whole([call('p1', 'slow')]), whole([{ type: 'text', text: 'ok' }]));
  const { chunks } = await show(createAgent({ model: aiSdkModel(model), tools: [slow] }).stream('go'));
  expect(chunks.filter(({ type }) => type === 'tool-output-available')).toMatchObject([
    { output: 'half', preliminary: true },
    { output: 'whole', preliminary: true },
    { output: 'whole' },
  ]);
});

test('R40, R41: what a broken try has shown is taken back', async () => {
  let tries = 0;
  const flaky: ChatModel = {
    ...scriptedModel([]),
    async *stream() {
      tries += 1;
      yield { type: 'text-delta', text: 'half an ' };
      await Promise.resolve();
      if (tries === 1) throw new ModelError('model-stream-broken', 'lost', { transient: true });
      yield { type: 'text-delta', text: 'answer' };
      const content = [{ type: 'text' as const, text: 'half an answer' }];
      yield { type: 'finish', reply: { message: { role: 'assistant', content }, finishReason: 'stop' } };
    },
  };
  const agent = createAgent({ model: flaky, retry: { initialDelay: 1 } });
  const { message, chunks } = await show(agent.stream('go'));
  expect(message.parts).toMatchObject([{ type: 'step-start' }, { type: 'text', text: 'half an answer' }]);
  expect(typesOf(chunks)).not.toContain('error');
});

test('a turn that fails ends with an error, whose words the application may choose', async () => {
  const failing = { ...scriptedModel([new ModelError('model-request-failed', 'no key', { transient: false })]) };
  const run = createAgent({ model: failing }).stream('go');
  const { chunks } = await show(run, { onError: ({ message }) => `sorry: ${message}` });
  expect(chunks.slice(-2)).toEqual([
    { type: 'error', errorText: 'sorry: no key' },
    { type: 'finish', finishReason: 'error' },
  ]);
  await expect(run.result).rejects.toThrow('no key');
  const again = createAgent({ model: failing }).stream('go');
  const mute = await show(again, { onError: ({ cause }) => cause?.message.trim() as never });
  expect(mute.chunks.at(-2)).toEqual({ type: 'error', errorText: 'An error occurred.' });
  const silent = await show(createAgent({ model: failing }).stream('go'), {
    onError: () => {
      throw new Error('no words');
    },
  });
  expect(silent.chunks.slice(-2)).toEqual(mute.chunks.slice(-2));
});

test('a run that cannot begin, and events that break off, are errors of the stream', async () => {
  const agent = createAgent({ model: scriptedModel([]) });
  await agent.close();
  expect(typesOf((await show(agent.stream('go'))).chunks)).toEqual(['start', 'error', 'finish']);
  const events = (async function* (): AsyncGenerator<AgentEvent> {
    yield await Promise.resolve({ type: 'step-start', iteration: 1 } as const);
  })();
  expect(typesOf((await show(events)).chunks)).toEqual(['start', 'start-step', 'finish-step', 'error', 'finish']);
});

test('R35: a turn that is stopped ends with abort, and its calls with errors', async () => {
  const held = heldTool('held');
  const model = mockModel(whole([call('p1', 'held')]));
  const controller = new AbortController();
  const agent = createAgent({ model: aiSdkModel(model), tools: [held.tool], stopGrace: 1 });
  const shown = show(agent.stream('go', { signal: controller.signal }));
  await held.whenBegun(1);
  controller.abort();
  const { chunks, message } = await shown;
  expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
  expect(message.parts.at(-1)).toMatchObject({ type: 'tool-held', state: 'output-error' });
});

test('a page that goes away stops the run that it streamed', async () => {
  const held = heldTool('held');
  const model = mockModel(whole([call('p1', 'held')]));
  const run = createAgent({ model: aiSdkModel(model), tools: [held.tool], stopGrace: 1 }).stream('go');
  const reader = toUIMessageStream(run).getReader();
  await reader.read();
  await held.whenBegun(1);
  await reader.cancel();
  await expect(run.result).resolves.toMatchObject({ outcome: { type: 'stopped' } });
});

test('R9: files and calls of the provider are shown when the turn ends', async () => {
  const content = [
    { type: 'text' as const, text: 'one hit' },
    { ...call('s1', 'search', { q: 1 }), providerExecuted: true },
    { type: 'tool-result' as const, toolCallId: 's1', toolName: 'search', result: { hits: 1 } },
    { type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data: 'aGk=' } },
  ];
  const agent = createAgent({ model: aiSdkModel(mockModel(whole(content))) });
  const { message } = await show(agent.stream('go', { session: 's' }));
  const [, loaded] = toUIMessages(await agent.open('s'));
  expect(loaded?.parts).toContainEqual(message.parts.find(({ type }) => type === 'tool-search'));
  expect(message.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'text', text: 'one hit' },
    { type: 'tool-search', state: 'output-available', providerExecuted: true, input: { q: 1 }, output: { hits: 1 } },
    { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,aGk=' },
  ]);
});

test('R42: a refusal says why', async () => {
  const model = mockModel(whole([], { finishReason: { unified: 'content-filter', raw: undefined } }));
  const { message, chunks } = await show(createAgent({ model: aiSdkModel(model) }).stream('go'));
  expect(message.parts.at(-1)).toMatchObject({ type: 'text', text: 'content filter' });
  expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'content-filter' });
});

test('R11: a result that is the answer itself is also its text', async () => {
  const direct = toolOf('direct', () => 'it is so', { returnDirect: true });
  const model = mockModel(whole([{ type: 'text', text: 'I ask.' }, call('p1', 'direct')]));
  const { message } = await show(createAgent({ model: aiSdkModel(model), tools: [direct] }).stream('go'));
  expect(message.parts.at(-1)).toMatchObject({ type: 'text', text: 'it is so' });
});
