import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AgentOptions, type ChatModel, ModelError, createAgent, tool } from '../../src/index.ts';
import { type TelemetryOptions, withTelemetry } from '../../src/otel/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { rejection, saved } from '../support/sessions.ts';
import { call, calls, heldTool, toolOf } from '../support/tools.ts';
import { inSpan, recorder, treeOf, withContextManager } from './telemetry.ts';

const usage = { inputTokens: 10, outputTokens: 4, cachedInputTokens: 3 };
const answered = (text: string) => ({ text, usage });

const weather = tool({
  name: 'weather',
  description: 'The weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `rain in ${city}`,
});
const pay = toolOf('pay', () => 'paid', { needsApproval: true });

const make = (
  answers: Parameters<typeof scriptedModel>[0],
  options: Omit<AgentOptions, 'model'> & { model?: ChatModel } = {},
  telemetry: TelemetryOptions = {},
  seen = recorder(),
) => {
  const { tracerProvider, meterProvider } = seen;
  const model: ChatModel = { ...scriptedModel(answers, { name: 'gpt-test' }), provider: 'openai' };
  const given = withTelemetry({ name: 'clerk', model, ...options }, { tracerProvider, meterProvider, ...telemetry });
  return { ...seen, agent: createAgent(given) };
};
type Agent = ReturnType<typeof make>['agent'];

const modes: [mode: string, run: (agent: Agent, question: string) => Promise<{ sessionId: string; text: string }>][] = [
  ['whole', (agent, question) => agent.run(question)],
  [
    'streamed',
    async (agent, question) => {
      const stream = agent.stream(question);
      for await (const _event of stream) void _event;
      return stream.result;
    },
  ],
];

describe.each(modes)('spans of a turn, %s', (_mode, run) => {
  it('are invoke_agent with chat and execute_tool inside, with the attributes of the conventions', async () => {
    const { agent, spans } = make(
      [
        { toolCalls: [{ name: 'weather', input: { city: 'Bern' } }], usage },
        { message: { role: 'assistant', content: 'It rains.' }, finishReason: 'stop', usage, model: 'gpt-test-1' },
      ],
      { tools: [weather], settings: { temperature: 0.5, maxOutputTokens: 99, topP: 1, seed: 7, stopSequences: ['x'] } },
    );
    const { sessionId } = await run(agent, 'weather?');
    const [turn, first, executed, second] = spans();
    expect(treeOf(spans())).toEqual([
      'invoke_agent clerk',
      '  chat gpt-test',
      '  execute_tool weather',
      '  chat gpt-test',
    ]);
    expect([turn?.kind, first?.kind, executed?.kind]).toEqual([SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.INTERNAL]);
    expect(turn?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'openai',
      'gen_ai.agent.name': 'clerk',
      'gen_ai.conversation.id': sessionId,
      'gen_ai.request.model': 'gpt-test',
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 8,
      'gen_ai.usage.cache_read.input_tokens': 6,
      'agentchart.outcome': 'answered',
    });
    const request = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-test',
      'gen_ai.agent.name': 'clerk',
      'gen_ai.conversation.id': sessionId,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.top_p': 1,
      'gen_ai.request.max_tokens': 99,
      'gen_ai.request.seed': 7,
      'gen_ai.request.stop_sequences': ['x'],
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.usage.cache_read.input_tokens': 3,
    };
    expect(first?.attributes).toEqual({ ...request, 'gen_ai.response.finish_reasons': ['tool_call'] });
    expect(second?.attributes).toEqual({
      ...request,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.model': 'gpt-test-1',
    });
    expect(executed?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'weather',
      'gen_ai.tool.call.id': 'call_1_0',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': 'The weather of a city',
      'gen_ai.agent.name': 'clerk',
      'gen_ai.conversation.id': sessionId,
    });
    expect(spans().map(({ status }) => status.code)).toEqual(Array(4).fill(SpanStatusCode.UNSET));
  });

  it('hold nothing of what was said, unless content is recorded', async () => {
    const script = [calls(call('weather', { city: 'Bern' })), 'It rains a secret amount.'];
    const options = { tools: [weather], instructions: 'Speak of Bern.' };
    const silent = make(script, options);
    await run(silent.agent, 'A secret question about Bern');
    expect(JSON.stringify(silent.spans().map(({ attributes }) => attributes))).not.toMatch(/secret|Bern/);

    const open = make(script, options, { recordContent: true });
    await run(open.agent, 'A secret question about Bern');
    const [turn, , executed, last] = open.spans().map(({ attributes }) => attributes);
    const read = (value: unknown): unknown => JSON.parse(String(value));
    const question = { role: 'user', parts: [{ type: 'text', content: 'A secret question about Bern' }] };
    const parts = [{ type: 'text', content: 'It rains a secret amount.' }];
    expect(read(turn?.['gen_ai.input.messages'])).toEqual([question]);
    expect(read(turn?.['gen_ai.output.messages'])).toEqual([{ role: 'assistant', parts, finish_reason: 'stop' }]);
    expect(read(executed?.['gen_ai.tool.call.arguments'])).toEqual({ city: 'Bern' });
    expect(read(executed?.['gen_ai.tool.call.result'])).toBe('rain in Bern');
    expect(read(last?.['gen_ai.system_instructions'])).toEqual([{ type: 'text', content: 'Speak of Bern.' }]);
    expect(read(last?.['gen_ai.tool.definitions'])).toEqual([
      { type: 'function', name: 'weather', description: 'The weather of a city' },
    ]);
    expect(read(last?.['gen_ai.input.messages'])).toMatchObject([
      question,
      { role: 'assistant', parts: [{ type: 'tool_call', name: 'weather', arguments: { city: 'Bern' } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', response: 'rain in Bern' }] },
    ]);
    expect(read(last?.['gen_ai.output.messages'])).toEqual([{ role: 'assistant', parts, finish_reason: 'stop' }]);
  });

  it('say what failed: status and error.type', async () => {
    const tired = new ModelError('model-request-failed', 'slow down', { status: 429, transient: true });
    const { agent, spans, points } = make([tired], { retry: { attempts: 1 } });
    await rejection(run(agent, 'hello'));
    const [turn, chat] = spans();
    expect([turn?.attributes['error.type'], chat?.attributes['error.type']]).toEqual(['429', '429']);
    expect([turn?.status, chat?.status]).toEqual(Array(2).fill({ code: SpanStatusCode.ERROR, message: 'slow down' }));
    const [point] = await points('gen_ai.client.operation.duration');
    expect(point?.attributes).toMatchObject({ 'error.type': '429', 'gen_ai.operation.name': 'chat' });
    expect(await points('gen_ai.client.token.usage')).toEqual([]);
  });
});

it('tokens and durations are measured, with the units and buckets of the conventions', async () => {
  const { agent, points } = make([{ ...calls(call('weather', { city: 'Bern' })), usage }, answered('rain')], {
    tools: [weather],
  });
  await agent.run('weather?');
  const tokens = await points('gen_ai.client.token.usage');
  const about = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-test',
  };
  expect(tokens.map(({ attributes, sum, count, unit }) => ({ attributes, sum, count, unit }))).toEqual([
    { attributes: { ...about, 'gen_ai.token.type': 'input' }, sum: 20, count: 2, unit: '{token}' },
    { attributes: { ...about, 'gen_ai.token.type': 'output' }, sum: 8, count: 2, unit: '{token}' },
  ]);
  expect(tokens[0]?.buckets.boundaries).toEqual([
    1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
  ]);
  const [chat] = await points('gen_ai.client.operation.duration');
  expect([chat?.attributes, chat?.count, chat?.unit, (chat?.sum ?? 0) > 0]).toEqual([about, 2, 's', true]);
  expect(chat?.buckets.boundaries).toEqual([
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
  ]);
  const [turn] = await points('gen_ai.invoke_agent.duration');
  expect([turn?.count, turn?.attributes['gen_ai.agent.name']]).toEqual([1, 'clerk']);
  const [executed] = await points('gen_ai.execute_tool.duration');
  expect([executed?.count, executed?.attributes['gen_ai.tool.name']]).toEqual([1, 'weather']);
});

it('a tool that throws or gives an error, or is timed out, fails its span and not the turn', async () => {
  const tools = [
    toolOf('throws', () => Promise.reject(Object.assign(new Error('no disk'), { code: 'ENOSPC' }))),
    toolOf('returns', () => new RangeError('too far')),
    toolOf('hangs', () => new Promise(() => undefined), { timeout: 5 }),
    toolOf('counts', async function* () {
      yield 1;
      throw new TypeError('no more');
    }),
  ];
  const { agent, spans } = make([calls(...tools.map(({ name }) => call(name))), 'done'], { tools });
  expect((await agent.run('go')).text).toBe('done');
  const types = spans().map(({ name, attributes, status }) => [name, attributes['error.type'], status.code]);
  expect(types.filter(([name]) => String(name).startsWith('execute_tool'))).toEqual(
    expect.arrayContaining([
      ['execute_tool counts', 'TypeError', SpanStatusCode.ERROR],
      ['execute_tool hangs', 'TimeoutError', SpanStatusCode.ERROR],
      ['execute_tool returns', 'RangeError', SpanStatusCode.ERROR],
      ['execute_tool throws', 'ENOSPC', SpanStatusCode.ERROR],
    ]),
  );
  expect(types).toHaveLength(7);
  expect(spans()[0]?.status.code).toBe(SpanStatusCode.UNSET);
});

it('a stream that is stopped ends its spans', async () => {
  const begun = Promise.withResolvers<void>();
  const model: ChatModel = {
    name: 'deaf',
    generate: () => new Promise(() => undefined),
    async *stream() {
      yield { type: 'text-delta', text: 'hm' };
      begun.resolve();
      await new Promise(() => undefined);
    },
  };
  const { agent, spans } = make([], { model });
  const caller = new AbortController();
  const stream = agent.stream('hello', { signal: caller.signal });
  const reading = (async () => {
    for await (const _event of stream) void _event;
  })();
  await begun.promise;
  caller.abort('enough');
  expect((await stream.result).outcome.type).toBe('stopped');
  await reading;
  expect(
    spans().map(({ name, attributes }) => [name, attributes['error.type'], attributes['agentchart.outcome']]),
  ).toEqual([
    ['invoke_agent clerk', undefined, 'stopped'],
    ['chat deaf', 'AbortError', undefined],
  ]);
});

it('a request that is stopped ends its spans, also where the model does not hear of it', async () => {
  const begun = Promise.withResolvers<void>();
  const model: ChatModel = {
    name: 'deaf',
    generate: () => {
      begun.resolve();
      return new Promise(() => undefined);
    },
  };
  const { agent, spans } = make([], { model });
  const caller = new AbortController();
  const running = agent.run('hello', { signal: caller.signal });
  await begun.promise;
  caller.abort('enough');
  await running;
  expect(spans().map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
    ['invoke_agent clerk', undefined],
    ['chat deaf', 'AbortError'],
  ]);
});

describe('parents', () => {
  withContextManager();

  it.each(modes)(
    'the turn is inside what is active, and the spans of a tool are inside its execute_tool, %s',
    async (_mode, run) => {
      const seen = recorder();
      const spanOf = (name: string) => seen.tracer.startSpan(name).end();
      const tools = [
        toolOf('a', async () => (await Promise.resolve(), spanOf('query a'))),
        toolOf('b', async () => (await Promise.resolve(), spanOf('query b'))),
        toolOf('c', async function* () {
          yield 1;
          await Promise.resolve();
          spanOf('query c');
          yield 2;
        }),
      ];
      const { agent } = make([calls(call('a'), call('b'), call('c')), 'done'], { tools }, {}, seen);
      const request = seen.tracer.startSpan('POST /ask');
      await inSpan(request, () => run(agent, 'go'));
      request.end();
      const tree = treeOf(seen.spans());
      expect(tree.slice(0, 3)).toEqual(['POST /ask', '  invoke_agent clerk', '    chat gpt-test']);
      expect(tree).toHaveLength(10);
      for (const name of ['a', 'b', 'c']) {
        expect(tree[tree.indexOf(`    execute_tool ${name}`) + 1]).toBe(`      query ${name}`);
      }
    },
  );

  it('concurrent and queued turns of one session each hold their own calls', async () => {
    const { agent, spans } = make(Array.from({ length: 3 }, (_, index) => `answer ${index}`));
    const session = await agent.open('s');
    await Promise.all(['1', '2', '3'].map((question) => agent.run(question, { session })));
    expect(treeOf(spans())).toEqual(Array(3).fill(['invoke_agent clerk', '  chat gpt-test']).flat());
    const traces = new Set(spans().map((span) => span.spanContext().traceId));
    expect(traces.size).toBe(3);
  });

  it('an agent that a tool runs, and one that is a tool, are inside the turn that asked them', async () => {
    const seen = recorder();
    const inner = make(['one'], { name: 'inner' }, {}, seen);
    const nested = make(['two'], { name: 'nested' }, {}, seen);
    const ask = toolOf('ask', async () => (await inner.agent.run('?')).text);
    const { agent } = make(
      [calls(call('ask'), call('helper', { prompt: 'help' })), 'done'],
      { tools: [ask, nested.agent.asTool({ name: 'helper' })] },
      {},
      seen,
    );
    await agent.run('go');
    const tree = treeOf(seen.spans());
    expect(tree.filter((line) => line.startsWith('    '))).toEqual([
      '    invoke_agent inner',
      '      chat gpt-test',
      '    chat gpt-test',
    ]);
    expect(tree.filter((line) => line.startsWith('  invoke_agent'))).toEqual(['  invoke_agent nested']);
  });
});

describe('a turn that goes on', () => {
  it('in another process is a span that links to the first, with its calls inside', async () => {
    const first = make([{ ...calls(call('pay')), usage }], { tools: [pay] });
    const { sessionId, outcome } = await first.agent.run('pay');
    expect(outcome.type).toBe('pending');
    const document = saved(await first.agent.open(sessionId));
    const [begun] = first.spans();
    expect(begun?.attributes['agentchart.outcome']).toBe('pending');

    const second = make([answered('paid')], { tools: [pay] });
    const session = second.agent.restore(document);
    await session.approve(session.pending[0]?.callId ?? '');
    await session.settled();
    expect(treeOf(second.spans())).toEqual(['invoke_agent clerk', '  execute_tool pay', '  chat gpt-test']);
    const [turn] = second.spans();
    // What the first process spent is in its own span.
    expect(turn?.attributes).toMatchObject({ 'gen_ai.usage.output_tokens': 4, 'agentchart.outcome': 'answered' });
    const { traceId, spanId } = begun?.spanContext() ?? { traceId: '', spanId: '' };
    expect(turn?.links.map(({ context: { traceId: trace, spanId: span } }) => [trace, span])).toEqual([
      [traceId, spanId],
    ]);
    expect(turn?.spanContext().traceId).not.toBe(traceId);
  });

  it('was begun without telemetry: there is nothing to link to, and its calls are inside all the same', async () => {
    const held = heldTool('look', { annotations: { readOnly: true } });
    const plain = createAgent({ name: 'clerk', model: scriptedModel([calls(call('look'))]), tools: [held.tool] });
    const before = await plain.open();
    await before.send('look');
    await held.whenBegun(1);
    const { agent, spans } = make(['seen'], { tools: [held.tool] });
    const session = agent.restore(saved(before));
    await held.whenBegun(2);
    held.end(1);
    await session.settled();
    expect(treeOf(spans())).toEqual(['invoke_agent clerk', '  execute_tool look', '  chat gpt-test']);
    expect(spans()[0]?.links).toEqual([]);
  });
});

it('keeps what the options say, the agent own middleware around the calls and inside the turn', async () => {
  const log: string[] = [];
  const { agent, spans } = make([], {
    modelMiddleware: [
      (next) => ({
        name: next.name,
        generate: async () => (
          log.push('cached'),
          { message: { role: 'assistant', content: 'kept' }, finishReason: 'stop' }
        ),
      }),
    ],
    agentMiddleware: [(next) => async (turn) => ({ ...(await next(turn)), text: 'changed' })],
  });
  expect((await agent.run('hello')).text).toBe('changed');
  expect([log, treeOf(spans())]).toEqual([['cached'], ['invoke_agent clerk']]);
});

it('without an SDK nothing is recorded and all works', async () => {
  const model = scriptedModel([calls(call('weather', { city: 'Bern' })), 'rain']);
  const agent = createAgent(withTelemetry({ model, tools: [weather] }));
  const { text, sessionId } = await agent.run('weather?');
  expect(text).toBe('rain');
  expect(JSON.stringify(await agent.open(sessionId))).not.toContain('traceparent');
});

describe('telemetry that fails costs no work', () => {
  const fail = (): never => {
    throw new Error('the collector is gone');
  };
  const processor = { onStart: () => undefined, onEnd: () => undefined };
  const rest = { forceFlush: async () => undefined, shutdown: async () => undefined };
  const through = (one: Partial<SpanProcessor>) => ({
    tracerProvider: new BasicTracerProvider({ spanProcessors: [{ ...processor, ...rest, ...one }] }),
  });
  const failing: [string, TelemetryOptions][] = [
    ['a processor, at the begin', through({ onStart: fail })],
    ['a processor, at the end', through({ onEnd: fail })],
    [
      'a sampler',
      { tracerProvider: new BasicTracerProvider({ sampler: { shouldSample: fail, toString: () => 'x' } }) },
    ],
    ['a meter', { meterProvider: { getMeter: fail } }],
  ];
  it.each(failing)('%s', async (_name, telemetry) => {
    let runs = 0;
    const book = toolOf('book', () => (runs += 1));
    const model = scriptedModel([calls(call('book')), 'booked']);
    const agent = createAgent(withTelemetry({ model, tools: [book] }, telemetry));
    const { text, messages } = await agent.run('go');
    expect([text, runs]).toEqual(['booked', 1]);
    expect(JSON.stringify(messages)).not.toContain('Error');
  });

  it('content that nobody has checked yet', async () => {
    const part = { type: 'tool-result', toolCallId: 'a' };
    const reply = { message: { role: 'assistant', content: [part] }, finishReason: 'stop' };
    const model = { name: 'odd', generate: async () => reply } as unknown as ChatModel;
    const agent = createAgent(withTelemetry({ model }, { recordContent: true }));
    await expect(agent.run('go')).rejects.toThrow('the model "odd" gave a reply that cannot be used');
  });
});
