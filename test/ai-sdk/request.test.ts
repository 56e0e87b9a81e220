import { expect, test } from 'vitest';
import { aiSdkModel } from '../../src/ai-sdk/index.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Message } from '../../src/messages/message.ts';
import type { ModelRequest } from '../../src/models/chat-model.ts';
import { ask, mockModel, whole } from './mock.ts';

const ok = () => mockModel(whole([{ type: 'text', text: 'ok' }]));

const sent = async (request: Partial<ModelRequest>, options = {}) => {
  const model = ok();
  await ask(model, request, options);
  const { abortSignal, ...asked } = model.doGenerateCalls[0] ?? { prompt: [] };
  expect(abortSignal).toBeInstanceOf(AbortSignal);
  return asked;
};

const history: Message[] = [
  { role: 'system', content: 'old', providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'look', providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
      { type: 'file', data: 'aGk=', mediaType: 'image/png', filename: 'a.png' },
      { type: 'file', data: 'data:text/plain;base64,aGk=', mediaType: 'text/*' },
      { type: 'file', data: 'data:text/plain,h%69', mediaType: 'text/plain' },
      { type: 'file', data: 'https://a.test/b.png', mediaType: 'image/*' },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 'sig' } } },
      { type: 'text', text: 'yes' },
      { type: 'tool-call', toolCallId: 'p1', toolName: 'read', input: { a: 1 } },
    ],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'p1',
        toolName: 'read',
        output: {
          type: 'content',
          value: [
            { type: 'text', text: 't' },
            { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
          ],
        },
      },
    ],
  },
  { role: 'assistant', content: 'done' },
];

test('messages become the stricter prompt of a provider, with options and signatures on their parts', async () => {
  const { prompt } = await sent({ messages: history });
  const cached = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } };
  expect(prompt).toEqual([
    { role: 'system', content: 'old', ...cached },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look', ...cached },
        { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'image/png', filename: 'a.png' },
        { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'text/plain' },
        { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'text/plain' },
        { type: 'file', data: { type: 'url', url: new URL('https://a.test/b.png') }, mediaType: 'image/*' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 'sig' } } },
        { type: 'text', text: 'yes' },
        { type: 'tool-call', toolCallId: 'p1', toolName: 'read', input: { a: 1 } },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'p1',
          toolName: 'read',
          output: {
            type: 'content',
            value: [
              { type: 'text', text: 't' },
              { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'image/png' },
            ],
          },
        },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
  ]);
});

test('instructions are the one system message, in place of what the history says', async () => {
  const { prompt } = await sent({ messages: history.slice(0, 2), instructions: 'new' });
  expect(prompt.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(prompt[0]).toEqual({ role: 'system', content: 'new' });
});

test('tools, choice, settings, output and the options of the model arrive where the AI SDK has them', async () => {
  const search = { type: 'provider' as const, id: 'mock.search' as const, args: { max: 1 } };
  const asked = await sent(
    {
      tools: [{ name: 'read', description: 'reads', inputSchema: { type: 'object' } }],
      toolChoice: { tool: 'read' },
      output: { name: 'answer', schema: { type: 'object' } },
      settings: {
        temperature: 0,
        topP: 0.5,
        maxOutputTokens: 9,
        seed: 1,
        stopSequences: ['x'],
        providerOptions: { mock: { b: 2 } },
      },
    },
    { providerOptions: { mock: { a: 1, b: 1 } }, headers: { x: 'y' }, reasoning: 'low', providerTools: { search } },
  );
  expect(asked).toEqual({
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
    tools: [
      { type: 'function', name: 'read', description: 'reads', inputSchema: { type: 'object' } },
      { type: 'provider', id: 'mock.search', name: 'search', args: { max: 1 } },
    ],
    toolChoice: { type: 'tool', toolName: 'read' },
    responseFormat: { type: 'json', name: 'answer', schema: { type: 'object' } },
    temperature: 0,
    topP: 0.5,
    maxOutputTokens: 9,
    seed: 1,
    stopSequences: ['x'],
    headers: { x: 'y' },
    reasoning: 'low',
    providerOptions: { mock: { a: 1, b: 2 } },
  });
});

test('R14: without tools neither tools nor a choice is sent', async () => {
  expect(await sent({ toolChoice: 'none' })).toEqual({
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  });
});

test('what is no model of the AI SDK, and unknown options, are refused by name', () => {
  const make = (model: unknown, options: unknown) => () =>
    Reflect.apply(aiSdkModel, undefined, [model, options]) as unknown;
  expect(make('openai/gpt', {})).toThrow('give the model itself, such as openai("openai/gpt")');
  expect(make({ specificationVersion: 'v1' }, {})).toThrow('specification v4, v3 or v2), found v1');
  expect(make({}, {})).toThrow('found undefined');
  expect(make(ok(), { temperature: 1 })).toThrow('unknown option "temperature"; known: name, canOutput');
  expect(make(ok(), { canOutput: 'yes' })).toThrow('option "canOutput" must be of type boolean, not string');
  expect(make(ok(), { providerTools: { a: { description: 'x' } } })).toThrow(
    'providerTools.a is no tool of a provider',
  );
  expect(aiSdkModel(ok())).toMatchObject({ name: 'mock-model-id', canOutput: true, needsTools: false });
});

test('warnings of the provider are heard, and who hears them ends no turn', async () => {
  const warnings = [{ type: 'unsupported' as const, feature: 'seed' }];
  const heard: unknown[] = [];
  await ask(
    mockModel(whole([{ type: 'text', text: 'ok' }], { warnings })),
    {},
    { onWarnings: (all) => heard.push(all) },
  );
  expect(heard).toEqual([warnings]);
  const { text } = await createAgent({
    model: aiSdkModel(mockModel(whole([{ type: 'text', text: 'ok' }], { warnings })), {
      onWarnings: () => {
        throw new Error('nobody listens');
      },
    }),
  }).run('hello');
  expect(text).toBe('ok');
});
