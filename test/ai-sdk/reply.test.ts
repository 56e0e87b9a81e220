import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import type { Content, GenerateResult, StreamPart } from '../../src/ai-sdk/model/provider-types.ts';
import { textOf } from '../../src/messages/message.ts';
import { ask, askStreamed, bothReplies, call, mockModel, streamed, usage, whole } from './mock.ts';

test('a reply is the same whole and streamed: text, reasoning with its signature, calls, usage, model', async () => {
  const reply = whole(
    [
      { type: 'reasoning', text: 'let me see', providerMetadata: { anthropic: { signature: 'sig' } } },
      { type: 'text', text: 'I look' },
      call('p1', 'read', { a: 1 }),
      call('p2', 'read', ''),
      call('p3', 'read', '{"a":'),
      call('p4', 'read', '[1]'),
    ],
    { response: { modelId: 'mock-2' } },
  );
  for (const found of await bothReplies(reply)) {
    expect(found).toEqual({
      message: {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'let me see', providerOptions: { anthropic: { signature: 'sig' } } },
          { type: 'text', text: 'I look' },
          { type: 'tool-call', toolCallId: 'p1', toolName: 'read', input: { a: 1 } },
          { type: 'tool-call', toolCallId: 'p2', toolName: 'read', input: {} },
          { type: 'tool-call', toolCallId: 'p3', toolName: 'read', input: '{"a":' },
          { type: 'tool-call', toolCallId: 'p4', toolName: 'read', input: '[1]' },
        ],
      },
      finishReason: 'tool-calls',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 3, reasoningTokens: 2 },
      model: 'mock-2',
    });
  }
});

test('deltas come as they are streamed; calls of the provider have none', async () => {
  const theirs = { ...call('s1', 'search', { q: 1 }), providerExecuted: true };
  const { chunks } = await askStreamed(
    mockModel(
      whole([
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'one two' },
        theirs,
        call('p1', 'read', { a: 1 }),
      ]),
    ),
  );
  expect(chunks.slice(0, -1)).toEqual([
    { type: 'reasoning-delta', text: 'hm' },
    { type: 'text-delta', text: 'one ' },
    { type: 'text-delta', text: 'two' },
    { type: 'tool-input-delta', index: 0, toolName: 'read', text: '{"' },
    { type: 'tool-input-delta', index: 0, toolName: 'read', text: 'a":1}' },
  ]);
});

test('a call that is streamed without its input is shown whole', async () => {
  const model = new MockLanguageModelV4({
    doStream: streamed([
      { type: 'tool-call', toolCallId: 'p1', toolName: 'read', input: '{}' },
      { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
    ]),
  });
  const { chunks } = await askStreamed(model);
  expect(chunks[0]).toEqual({ type: 'tool-input-delta', index: 0, toolName: 'read', text: '{}' });
});

test('R9: what the provider ran stands in the message with its result; preliminary results do not', async () => {
  const reply = whole([
    { ...call('s1', 'search', { q: 1 }), providerExecuted: true },
    { type: 'tool-result', toolCallId: 's1', toolName: 'search', result: 'half', preliminary: true },
    { type: 'tool-result', toolCallId: 's1', toolName: 'search', result: { hits: 1 } },
    { ...call('s2', 'search', { q: 2 }), providerExecuted: true },
    { type: 'tool-result', toolCallId: 's2', toolName: 'search', result: { code: 'busy' }, isError: true },
    { type: 'source', sourceType: 'url', id: '1', url: 'https://a.test' },
    { type: 'text', text: 'found' },
  ]);
  for (const { message } of await bothReplies(reply)) {
    expect(message.content).toEqual([
      { type: 'tool-call', toolCallId: 's1', toolName: 'search', input: { q: 1 }, providerExecuted: true },
      { type: 'tool-result', toolCallId: 's1', toolName: 'search', output: { type: 'json', value: { hits: 1 } } },
      { type: 'tool-call', toolCallId: 's2', toolName: 'search', input: { q: 2 }, providerExecuted: true },
      {
        type: 'tool-result',
        toolCallId: 's2',
        toolName: 'search',
        output: { type: 'error-json', value: { code: 'busy' } },
      },
      { type: 'text', text: 'found' },
    ]);
    expect(message.providerOptions?.['ai-sdk']?.['sources']).toMatchObject([{ url: 'https://a.test' }]);
  }
});

test('files, files of thoughts and parts of one provider come back to it as they were', async () => {
  const content = [
    {
      type: 'file' as const,
      mediaType: 'image/png',
      data: { type: 'data' as const, data: new Uint8Array([104, 105]) },
    },
    {
      type: 'reasoning-file' as const,
      mediaType: 'image/png',
      data: { type: 'url' as const, url: new URL('https://a.test/x.png') },
      providerMetadata: { google: { thoughtSignature: 's' } },
    },
    { type: 'custom' as const, kind: 'openai.compaction' as const, providerMetadata: { openai: { itemId: 'c1' } } },
    { type: 'text' as const, text: '', providerMetadata: { google: { thoughtSignature: 't' } } },
  ];
  for (const { message } of await bothReplies(whole(content))) {
    expect(JSON.parse(JSON.stringify(message))).toEqual(message);
    const model = mockModel(whole([{ type: 'text', text: 'ok' }]));
    await ask(model, { messages: [message] });
    expect(model.doGenerateCalls[0]?.prompt[0]?.content).toEqual([
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
      {
        type: 'reasoning-file',
        mediaType: 'image/png',
        data: { type: 'url', url: new URL('https://a.test/x.png') },
        providerOptions: { google: { thoughtSignature: 's' } },
      },
      { type: 'custom', kind: 'openai.compaction', providerOptions: { openai: { itemId: 'c1' } } },
      { type: 'text', text: '', providerOptions: { google: { thoughtSignature: 't' } } },
    ]);
  }
});

test('the text that the provider names as the structured answer is the answer', async () => {
  const reply = whole(
    [
      { type: 'text', text: 'draft' },
      { type: 'text', text: '{"a":1}' },
    ],
    { structuredOutputText: '{"a":1}' },
  );
  const output = { name: 'answer', schema: { type: 'object' } };
  expect(textOf((await ask(mockModel(reply), { output })).message)).toBe('{"a":1}');
  expect(textOf((await ask(mockModel(reply))).message)).toBe('draft{"a":1}');
});

test.each(['stop', 'length', 'content-filter', 'other'] as const)('finish reason %s is kept', async (unified) => {
  const reply = whole([{ type: 'text', text: 'x' }], { finishReason: { unified, raw: undefined } });
  for (const found of await bothReplies(reply)) expect(found.finishReason).toBe(unified);
});

test('R42: a refusal is told with its words', async () => {
  const finishReason = { unified: 'content-filter' as const, raw: 'refusal' };
  for (const found of await bothReplies(whole([{ type: 'text', text: 'I will not' }], { finishReason }))) {
    expect(found).toMatchObject({ finishReason: 'content-filter', refusal: 'I will not' });
  }
});

test('usage that was not counted is absent, not zero', async () => {
  const uncounted = {
    inputTokens: { total: 4, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined },
  };
  const [found] = await bothReplies(whole([{ type: 'text', text: 'x' }], { usage: uncounted }));
  expect(found?.usage).toEqual({ inputTokens: 4 });
});

test('what a provider leaves out against its type is taken as not given', async () => {
  const odd = [
    null,
    { type: 'tool-call', toolCallId: 'p1', toolName: 'read', input: { a: 1 } },
  ] as unknown as Content[];
  const given = { content: [...odd, { type: 'text', text: 'hi' }] } as unknown as GenerateResult;
  const { message, finishReason, usage: counted } = await ask(mockModel(given));
  expect(message.content).toEqual([
    { type: 'tool-call', toolCallId: 'p1', toolName: 'read', input: { a: 1 } },
    { type: 'text', text: 'hi' },
  ]);
  expect([finishReason, counted]).toEqual(['other', undefined]);
  const counts = whole([{ type: 'text', text: 'hi' }], { usage: { inputTokens: { total: 2 } } as never });
  expect((await ask(mockModel(counts))).usage).toEqual({ inputTokens: 2 });
  await expect(ask(mockModel({} as GenerateResult))).rejects.toThrow('a reply without content');
  const parts = [
    { type: 'stream-start' },
    { type: 'text-delta', id: '1' },
    { type: 'text-delta', id: '1', delta: 'hi' },
    { type: 'finish', finishReason: { unified: 'stop' } },
  ] as unknown as StreamPart[];
  const { reply } = await askStreamed(new MockLanguageModelV4({ doStream: streamed(parts) }));
  expect([textOf(reply.message), reply.finishReason, reply.usage]).toEqual(['hi', 'stop', undefined]);
});
