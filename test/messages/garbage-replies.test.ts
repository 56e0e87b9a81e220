import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { violations } from '../../src/messages/violations.ts';
import type { ChatModel, ModelReply } from '../../src/models/chat-model.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { TurnError } from '../../src/sessions/turn-error.ts';
import { F1 } from '../support/tools.ts';

const deep = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
};

const saying = (content: unknown, extra: object = {}): unknown => ({
  message: { role: 'assistant', content },
  finishReason: 'stop',
  ...extra,
});

/** Gives the reply once, and an answer ever after. */
const modelOf = (reply: unknown): ChatModel => {
  let asked = 0;
  return {
    name: 'garbage',
    generate: async () => ((asked += 1) === 1 ? reply : saying('fine')) as ModelReply,
  };
};

/** Runs one turn on the reply; whatever became of it, the session is whole, can be stored, loaded and talked to. */
const outcomeOf = async (reply: unknown) => {
  const agent = createAgent({ model: modelOf(reply), tools: [F1] });
  const session = await agent.open();
  const outcome = await agent.run('hello', { session }).then(
    (result) => result.outcome,
    (error: unknown) => {
      if (error instanceof TurnError) return error.result.outcome;
      throw error;
    },
  );
  expect(violations(session.messages)).toEqual([]);
  const restored = agent.restore(JSON.stringify(session));
  expect(restored.messages).toEqual(JSON.parse(JSON.stringify(session.messages)));
  for (const each of [restored, session]) {
    const { outcome: next } = await agent.run('again', { session: each });
    expect(next.type).toBe('answered');
  }
  return { outcome, messages: session.messages };
};

const text = { type: 'text', text: 'hello' };
const callPart = { type: 'tool-call', toolCallId: 'a', toolName: 'F1', input: {} };

describe('a reply that is not right', () => {
  test.each<[string, unknown, string]>([
    ['a part that is a number', [text, 5], 'content[1]: found 5'],
    ['a part that is null', [null], 'content[0]: found null'],
    ['a part that is an array', [[]], 'content[0]: found an empty array'],
    ['a part without a type', [{}], 'content[0].type: found undefined'],
    ['text that is no text', [{ type: 'text', text: 5 }], 'content[0].text: found 5'],
    ['reasoning without text', [{ type: 'reasoning' }], 'content[0].text: found undefined'],
    [
      'a call without a name',
      [text, text, { ...callPart, toolName: undefined }],
      'content[2].toolName: found undefined',
    ],
    ['a call with a number as its name', [{ ...callPart, toolName: 5 }], 'content[0].toolName: found 5'],
    ['a call with an object as its id', [{ ...callPart, toolCallId: {} }], 'content[0].toolCallId: found an object'],
    ['a result without output', [{ ...callPart, type: 'tool-result' }], 'content[0].output: found undefined'],
    ['options that are a number', [{ ...text, providerOptions: 5 }], 'content[0].providerOptions: found 5'],
    ['a file without data', [{ type: 'file', mediaType: 'image/png' }], 'content[0].data: found undefined'],
    [
      'an unknown part that belongs to a call',
      [{ type: 'approval', toolCallId: 'a' }],
      'content[0].type: found "approval"',
    ],
  ])('%s is a model error that says where', async (_, content, says) => {
    const { outcome, messages } = await outcomeOf(saying(content));
    expect(outcome).toMatchObject({
      type: 'failed',
      code: 'model-error',
      error: { message: expect.stringContaining(says) },
    });
    expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
    expect(messages.slice(0, 1)).toEqual([{ role: 'user', content: 'hello' }]);
  });

  test.each<[string, object, string]>([
    ['finishReason', { finishReason: 5 }, 'finishReason: found 5'],
    ['refusal', { refusal: { a: 1 } }, 'refusal: found an object'],
    ['model', { model: 5 }, 'model: found 5'],
  ])('a %s of another kind is a model error', async (_, extra, says) => {
    const { outcome } = await outcomeOf(saying('hi', extra));
    expect(outcome).toMatchObject({ code: 'model-error', error: { message: expect.stringContaining(says) } });
  });

  test('what a turn failed by can be retried', async () => {
    const agent = createAgent({ model: modelOf(saying([5])) });
    const session = await agent.open();
    await expect(agent.run('hello', { session })).rejects.toMatchObject({ code: 'model-error' });
    await session.retry();
    expect((await session.settled()).text).toBe('fine');
  });

  test.each<unknown>([null, 'lots', [1], { inputTokens: -5 }, { inputTokens: '12' }, { inputTokens: Number.NaN }])(
    'the usage %j counts nothing',
    async (usage) => {
      const agent = createAgent({ model: modelOf(saying('hi', { usage })) });
      expect(await agent.run('hello')).toMatchObject({ usage: {}, outcome: { type: 'answered' } });
    },
  );

  test('a part of an unknown type, null options and our own key are left out', async () => {
    const { messages } = await outcomeOf(
      saying([
        { type: 'source', url: 'https://example.com' },
        { ...text, providerOptions: null, extra: deep(3_000) },
        { ...text, providerOptions: { agentchart: { providerCallId: 'x' }, some: { deep: deep(3_000), kept: 1 } } },
      ]),
    );
    expect(messages[1]?.content).toEqual([text, { ...text, providerOptions: { some: { kept: 1 } } }]);
  });

  test('a call with an empty name is answered like one of an unknown tool', async () => {
    const { outcome, messages } = await outcomeOf(saying([{ ...callPart, toolName: '' }]));
    expect(outcome).toEqual({ type: 'answered' });
    expect(JSON.stringify(messages[2])).toContain(String.raw`there is no tool named \"unnamed\"`);
  });

  test.each([501, 600, 3_000])('arguments of %d levels become text, which fails its check', async (levels) => {
    const { outcome, messages } = await outcomeOf(saying([{ ...callPart, input: deep(levels) }]));
    expect(outcome).toEqual({ type: 'answered' });
    expect(messages[1]?.content).toMatchObject([{ type: 'tool-call', input: JSON.stringify(deep(levels)) }]);
  });

  test('arguments of 500 levels stay what they are', async () => {
    const { messages } = await outcomeOf(saying([{ ...callPart, input: deep(500) }]));
    expect(messages[1]?.content).toMatchObject([{ type: 'tool-call', input: deep(500) }]);
  });

  const odd = fc.constantFrom<unknown[]>(
    undefined,
    null,
    5,
    -1,
    '',
    'x',
    true,
    [],
    [null],
    {},
    { a: 1 },
    1e308,
    '\ud800',
    deep(501),
    deep(3_000),
    Number.NaN,
    JSON.parse('{"__proto__":{"a":1},"b":2}'),
  );
  const often = <T>(value: T) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant<unknown>(value) }, { weight: 1, arbitrary: odd });
  const options = fc.oneof(
    fc.constant(undefined),
    odd,
    fc.dictionary(fc.constantFrom('openai', 'agentchart', '__proto__'), odd),
  );
  const id = fc.constantFrom('', 'a', 'b');
  const output = fc.oneof(
    odd,
    fc.record({ type: fc.constantFrom('text', 'json', 'error-json', 'content', 'execution-denied', 'x'), value: odd }),
  );
  const part = fc.oneof(
    odd,
    fc.record({ type: often('text'), text: often('hi'), providerOptions: options }),
    fc.record({ type: often('reasoning'), text: often('hm'), providerOptions: options }),
    fc.record({ type: fc.constantFrom('file', 'image', 'weird'), data: often('AAAA'), mediaType: often('image/png') }),
    fc.record(
      {
        type: fc.constant('tool-call'),
        toolCallId: fc.oneof({ weight: 4, arbitrary: id }, { weight: 1, arbitrary: odd }),
        toolName: fc.oneof(often('F1'), fc.constantFrom('', '__proto__', 'nope')),
        input: often({}),
        providerExecuted: fc.constantFrom<unknown[]>(undefined, true, false, null, 5),
        providerOptions: options,
      },
      { requiredKeys: ['type', 'toolName'] },
    ),
    fc.record({ type: fc.constant('tool-result'), toolCallId: id, toolName: often('F1'), output }),
  );
  const content = fc.oneof(
    often('hi'),
    fc.array(part, { maxLength: 5 }),
    fc.array(fc.constant(callPart), { maxLength: 3 }),
  );
  const garbage = fc.oneof(
    odd,
    fc.record(
      {
        message: fc.oneof(
          { weight: 9, arbitrary: fc.record({ role: often('assistant'), content, providerOptions: options }) },
          { weight: 1, arbitrary: odd },
        ),
        finishReason: fc.oneof(often('stop'), fc.constantFrom('length', 'content-filter', 'tool-calls')),
        refusal: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, odd),
        model: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, odd),
        usage: fc.oneof(odd, fc.record({ inputTokens: odd, totalTokens: odd })),
      },
      { requiredKeys: ['message'] },
    ),
  );

  test('whatever a model gives, the turn ends, and the session is whole, stored, loaded and talked to', async () => {
    await fc.assert(
      fc.asyncProperty(garbage, async (reply) => {
        const { outcome } = await outcomeOf(reply);
        expect(['answered', 'refused', 'failed']).toContain(outcome.type);
        if (outcome.type === 'failed') expect(['model-error', 'empty-reply']).toContain(outcome.code);
      }),
      { numRuns: 200 },
    );
  });
});

describe('what breaks when it is looked at', () => {
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };

  test('a model that throws a revoked proxy fails the turn', async () => {
    const model: ChatModel = { name: 'odd', generate: () => Promise.reject(revoked() as Error) };
    await expect(createAgent({ model }).run('hello')).rejects.toMatchObject({
      code: 'model-error',
      result: { outcome: { error: { message: 'unprintable error' } } },
    });
  });

  test('a tool that throws one gives the model an error', async () => {
    for (const detailedErrors of [true, false]) {
      const broken = { ...F1, execute: () => Promise.reject(revoked() as Error) };
      const agent = createAgent({ model: modelOf(saying([callPart])), tools: [broken], detailedErrors });
      const { outcome, messages } = await agent.run('hello');
      expect(outcome.type).toBe('answered');
      expect(JSON.stringify(messages[2])).toContain('the tool failed.');
    }
  });

  test('a reply that is one is a model error', async () => {
    await expect(createAgent({ model: modelOf({ message: revoked() }) }).run('hello')).rejects.toMatchObject({
      code: 'model-error',
    });
  });
});
