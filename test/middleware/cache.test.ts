import { describe, expect, it } from 'vitest';
import { AgentError, type AgentOptions, type ModelReply, ModelError, createAgent } from '../../src/index.ts';
import { cache } from '../../src/middleware/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { rejection } from '../support/sessions.ts';
import { call, calls, toolOf } from '../support/tools.ts';

const modes = ['whole', 'streamed'] as const;
type Mode = (typeof modes)[number];

const ask = async (mode: Mode, options: AgentOptions, question: string) => {
  const agent = createAgent(options);
  if (mode === 'whole') return { result: await agent.run(question), deltas: '' };
  const stream = agent.stream(question);
  let deltas = '';
  for await (const event of stream) if (event.type === 'text-delta') deltas += event.text;
  return { result: await stream.result, deltas };
};

describe.each(modes.flatMap((first) => modes.map((second) => ({ first, second }))))(
  'cache: $first, then $second',
  ({ first, second }) => {
    it('an equal request is answered with the same reply, and costs nothing', async () => {
      const model = scriptedModel([
        { ...calls(call('look', { at: 'sky' }, 'p1')), usage: { inputTokens: 5 } },
        { text: 'It is blue.', usage: { inputTokens: 9 } },
      ]);
      const options = { model, tools: [toolOf('look', () => 'blue')], modelMiddleware: [cache()] };
      const before = await ask(first, options, 'which colour?');
      const after = await ask(second, options, 'which colour?');
      model.assertFinished();
      expect(after.result.messages).toEqual(before.result.messages);
      expect([before.result.usage.inputTokens, after.result.usage.inputTokens]).toEqual([14, 0]);
      expect(after.deltas).toBe(second === 'streamed' ? 'It is blue.' : '');
    });
  },
);

describe.each(modes)('cache, %s', (mode) => {
  it.each([
    ['another question', { question: 'other' }],
    ['other settings', { settings: { temperature: 1 } }],
    ['other instructions', { instructions: 'x' }],
  ])(
    '%s is asked anew',
    async (_name, { question = 'hello', ...options }: { question?: string } & Partial<AgentOptions>) => {
      const model = scriptedModel(['one', 'two']);
      const modelMiddleware = [cache()];
      await ask(mode, { model, modelMiddleware }, 'hello');
      expect((await ask(mode, { model, modelMiddleware, ...options }, question)).result.text).toBe('two');
    },
  );

  it.each([
    ['a failure', new ModelError('model-request-failed', 'no', { transient: false })],
    ['a cut reply', { text: 'so far', finishReason: 'length' as const }],
    ['a refusal', { text: '', refusal: 'I will not' }],
    ['a filtered reply', { text: 'x', finishReason: 'content-filter' as const }],
  ])('%s is not kept', async (_name, answer) => {
    const model = scriptedModel([answer, 'well']);
    const options = { model, modelMiddleware: [cache()] };
    await ask(mode, options, 'hello').catch(() => undefined);
    expect((await ask(mode, options, 'hello')).result.text).toBe('well');
    model.assertFinished();
  });

  it('a store that fails is passed by', async () => {
    const fail = () => Promise.reject(new Error('no store'));
    const model = scriptedModel(['one', 'two']);
    const options = { model, modelMiddleware: [cache({ store: { get: fail, set: fail } })] };
    expect((await ask(mode, options, 'hello')).result.text).toBe('one');
    expect((await ask(mode, options, 'hello')).result.text).toBe('two');
  });

  it.each([null, '{}', { message: null }, { message: { role: 'assistant' } }])(
    'what a store gives and is no reply counts as none: %j',
    async (kept) => {
      const model = scriptedModel(['one']);
      const store = { get: () => kept as unknown as null, set: () => undefined };
      expect((await ask(mode, { model, modelMiddleware: [cache({ store })] }, 'hello')).result.text).toBe('one');
    },
  );
});

it('cache: a Map is a store, its replies are plain JSON, and models of other names do not share them', async () => {
  const store = new Map<string, ModelReply>();
  const model = scriptedModel(['one']);
  const modelMiddleware = [cache({ store })];
  await createAgent({ model, modelMiddleware }).run('hello');
  const [entry] = [...store];
  expect(entry?.[0]).toMatch(/^[\da-f]{64}$/);
  expect(JSON.parse(JSON.stringify(entry?.[1]))).toEqual(entry?.[1]);
  const other = scriptedModel(['other'], { name: 'other' });
  expect((await createAgent({ model: other, modelMiddleware }).run('hello')).text).toBe('other');
});

it('cache: the default store keeps the replies that were used last', async () => {
  const model = scriptedModel(['a', 'b', 'c', 'a again']);
  const options = { model, modelMiddleware: [cache({ max: 2 })] };
  const texts: string[] = [];
  for (const question of ['a', 'b', 'c', 'b', 'a']) texts.push((await ask('whole', options, question)).result.text);
  expect(texts).toEqual(['a', 'b', 'c', 'b', 'a again']);
});

it('cache: a model that is asked in vain is asked again by the next turn', async () => {
  const model = scriptedModel([new Error('gone'), 'back']);
  const agent = createAgent({ model, modelMiddleware: [cache()] });
  await rejection(agent.run('hello'));
  expect((await agent.run('hello')).text).toBe('back');
});

it('cache: of a kept reply the calls that the provider ran are not streamed as calls of ours', async () => {
  const ran = { type: 'tool-call', toolCallId: 'w', toolName: 'web', input: { q: 1 }, providerExecuted: true } as const;
  const found = { type: 'tool-result', toolCallId: 'w', toolName: 'web', output: { type: 'text', value: '' } } as const;
  const own = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: { at: 'sky' } } as const;
  const model = scriptedModel([
    { message: { role: 'assistant', content: [ran, found, own] }, finishReason: 'tool-calls' },
    'blue',
  ]);
  const agent = createAgent({ model, tools: [toolOf('look', () => 'blue')], modelMiddleware: [cache()] });
  await agent.run('which colour?');
  const stream = agent.stream('which colour?');
  const inputs: unknown[] = [];
  for await (const event of stream) if (event.type === 'tool-input-delta') inputs.push([event.index, event.tool]);
  expect(inputs).toEqual([[0, 'look']]);
  model.assertFinished();
});

it.each([{ max: 0 }, { max: 1.5 }, { ttl: -1 }, { store: {} }, { size: 3 }])('cache refuses %j', (options: object) => {
  expect(() => cache(options)).toThrow(AgentError);
  expect(() => cache(options)).toThrow(/^cache: /);
});
