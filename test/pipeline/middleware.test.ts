import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type ChatModel,
  type ModelMiddleware,
  type ModelReply,
  type ModelRequest,
  type ToolMiddleware,
  AgentError,
  createAgent,
  tool,
} from '../../src/index.ts';
import { cache, logging } from '../../src/middleware/index.ts';
import { scriptedModel, violations } from '../../src/testing/index.ts';

const call = (name: string, input: unknown = {}) => ({ toolCalls: [{ name, input, id: name }] });

const double = (runs: number[] = []) =>
  tool({
    name: 'double',
    inputSchema: z.object({ n: z.number() }),
    execute: ({ n }) => {
      runs.push(n);
      return n * 2;
    },
  });

const named =
  (name: string, log: string[]): ModelMiddleware =>
  (next) => ({
    ...next,
    generate: async (request, options) => {
      log.push(`${name} in`);
      const reply = await next.generate(request, options);
      log.push(`${name} out`);
      return reply;
    },
    ...(next.stream === undefined
      ? {}
      : {
          stream: async function* (request, options) {
            log.push(`${name} in`);
            yield* next.stream?.(request, options) ?? [];
            log.push(`${name} out`);
          },
        }),
  });

describe.each(['whole', 'streamed'] as const)('R46: model middleware, %s', (mode) => {
  const answer = async (agent: ReturnType<typeof createAgent>, question = 'hello') =>
    mode === 'whole' ? agent.run(question) : agent.stream(question).result;

  it('stands around every model call, the first one outermost', async () => {
    const log: string[] = [];
    const model = scriptedModel([call('double', { n: 2 }), 'four']);
    const agent = createAgent({ model, tools: [double()], modelMiddleware: [named('a', log), named('b', log)] });
    const stream = agent.stream('hello');
    if (mode === 'streamed') for await (const _event of stream) void _event;
    await stream.result;
    const once = ['a in', 'b in', 'b out', 'a out'];
    expect(log).toEqual([...once, ...once]);
    model.assertFinished();
  });

  it('changes the request and the reply, and what it adds to the request is not stored', async () => {
    const model = scriptedModel(['plain']);
    const polite: ModelMiddleware = (next) => ({
      name: next.name,
      generate: async (request, options) => {
        const messages = [...request.messages, { role: 'user' as const, content: 'Be polite.' }];
        const reply = await next.generate({ ...request, messages }, options);
        return { ...reply, message: { role: 'assistant', content: 'polite' } };
      },
    });
    const result = await answer(createAgent({ model, modelMiddleware: [polite] }));
    expect(result.text).toBe('polite');
    expect(result.messages.map(({ content }) => content)).toEqual(['hello', 'polite']);
    expect(model.requests[0]?.messages.at(-1)?.content).toBe('Be polite.');
  });

  it('LC38: answers itself, and the model is not asked', async () => {
    const model = scriptedModel([]);
    const cached: ModelMiddleware = (next) => ({
      name: next.name,
      generate: async () => ({ message: { role: 'assistant', content: 'from the cache' }, finishReason: 'stop' }),
    });
    const result = await answer(createAgent({ model, modelMiddleware: [cached] }));
    expect(result.text).toBe('from the cache');
    model.assertFinished();
  });

  it('LC39: asks twice and takes the second reply', async () => {
    const model = scriptedModel(['first', 'second']);
    const twice: ModelMiddleware = (next) => ({
      name: next.name,
      generate: async (request, options) => {
        await next.generate(request, options);
        return next.generate(request, options);
      },
    });
    expect((await answer(createAgent({ model, modelMiddleware: [twice] }))).text).toBe('second');
    model.assertFinished();
  });

  it('fails the turn with what it throws', async () => {
    const broken: ModelMiddleware = (next) => ({
      name: next.name,
      generate: async () => {
        throw new Error('no budget');
      },
    });
    await expect(answer(createAgent({ model: scriptedModel([]), modelMiddleware: [broken] }))).rejects.toMatchObject({
      code: 'model-error',
      message: 'no budget',
    });
  });

  it('stands around the fallback models too', async () => {
    const log: string[] = [];
    const down = scriptedModel([new Error('gone')]);
    const lost: ModelMiddleware = (next) =>
      next.name === 'other' ? named('other', log)(next) : { ...next, ...named('own', log)(next) };
    const agent = createAgent({
      model: down,
      fallback: [scriptedModel(['x'], { name: 'other' })],
      modelMiddleware: [lost],
    });
    await expect(answer(agent)).rejects.toMatchObject({ message: 'gone' });
    expect(log).toEqual(['own in']);
  });
});

describe('R46: tool middleware', () => {
  it('M71: stands around every run, the first one outermost, and sees tool, arguments and context', async () => {
    const log: string[] = [];
    const around =
      (name: string): ToolMiddleware =>
      (next) =>
      async (run) => {
        log.push(`${name} ${run.tool.name} ${JSON.stringify(run.input)} ${run.ctx.callId}`);
        const value = await next(run);
        log.push(`${name} out`);
        return value;
      };
    const model = scriptedModel([call('double', { n: 2 }), 'four']);
    const agent = createAgent({ model, tools: [double()], toolMiddleware: [around('a'), around('b')] });
    await agent.run('hello');
    expect(log).toEqual(['a double {"n":2} call_1_0', 'b double {"n":2} call_1_0', 'b out', 'a out']);
  });

  it('M71: changes arguments and result, skips the tool, and fails it', async () => {
    const runs: number[] = [];
    const meddle: ToolMiddleware = (next) => async (run) => {
      const { n } = run.input as { n: number };
      if (n === 1) return 'skipped';
      if (n === 2) throw new Error('not today');
      return `${String(await next({ ...run, input: { n: n + 1 } }))}!`;
    };
    const model = scriptedModel([
      { toolCalls: [1, 2, 3].map((n) => ({ name: 'double', input: { n }, id: `c${n}` })) },
      'done',
    ]);
    const agent = createAgent({ model, tools: [double(runs)], toolMiddleware: [meddle], detailedErrors: true });
    const result = await agent.run('hello');
    const results = result.messages.find(({ role }) => role === 'tool');
    expect(results?.role === 'tool' && results.content.map(({ output }) => output)).toEqual([
      { type: 'text', value: 'skipped' },
      { type: 'error-text', value: 'Error: the tool failed. not today' },
      { type: 'text', value: '8!' },
    ]);
    expect(runs).toEqual([4]);
    expect(violations(result.messages)).toEqual([]);
  });

  it('LC30: is not asked for calls that are rejected, unknown or of wrong arguments', async () => {
    let asked = 0;
    const count: ToolMiddleware = (next) => (run) => {
      asked += 1;
      return next(run);
    };
    const model = scriptedModel([{ toolCalls: [{ name: 'nope' }, { name: 'double', input: { n: 'x' } }] }, 'done']);
    await createAgent({ model, tools: [double()], toolMiddleware: [count] }).run('hello');
    expect(asked).toBe(0);
  });
});

it.each(['whole', 'streamed'] as const)(
  'R48, R2: what a middleware changes in place is sent, %s, and neither stored nor an option of the next turn',
  async (mode) => {
    const settings = { providerOptions: {} as Record<string, string> };
    const meddle = (request: ModelRequest): ModelRequest => {
      for (const message of request.messages) if (message.role === 'user') message.content = 'changed';
      Object.assign(request.settings?.providerOptions ?? {}, { added: 'here' });
      return request;
    };
    const inPlace: ModelMiddleware = (next) => ({
      ...next,
      generate: (request, options) => next.generate(meddle(request), options),
      stream: (request, options) => next.stream?.(meddle(request), options) ?? (async function* () {})(),
    });
    const model = scriptedModel(['one']);
    const agent = createAgent({ model, settings, modelMiddleware: [inPlace] });
    const stream = agent.stream('said');
    if (mode === 'streamed') for await (const _event of stream) void _event;
    const { messages } = await stream.result;
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: 'changed' }]);
    expect(messages[0]).toEqual({ role: 'user', content: 'said' });
    expect(settings).toEqual({ providerOptions: {} });
  },
);

it.each(['whole', 'streamed'] as const)(
  'R2, R48: what a model changes in its request, %s, is changed nowhere else',
  async (mode) => {
    const settings = { providerOptions: {} as Record<string, string> };
    const meddle = ({ messages, settings: given }: ModelRequest): void => {
      for (const message of messages) {
        if (message.role === 'system') continue;
        if (typeof message.content === 'string') message.content = 'changed';
        else for (const part of message.content) Object.assign(part, { providerOptions: { cache: { on: true } } });
      }
      Object.assign(given?.providerOptions ?? {}, { added: 'here' });
    };
    const { generate, stream } = scriptedModel([call('double', { n: 2 }), 'four', 'bye']);
    const model: ChatModel = {
      name: 'meddler',
      generate: async (request, options) => {
        const reply = await generate(request, options);
        meddle(request);
        return reply;
      },
      stream: async function* (request, options) {
        yield* stream?.(request, options) ?? [];
        meddle(request);
      },
    };
    const agent = createAgent({ model, settings, tools: [double()] });
    const session = await agent.open();
    for (const question of ['twice?', 'thanks']) {
      if (mode === 'whole') await agent.run(question, { session });
      else for await (const _event of agent.stream(question, { session })) void _event;
    }
    const told = JSON.stringify(session.messages);
    for (const word of ['"twice?"', '"thanks"', 'four', 'bye']) expect(told).toContain(word);
    expect(told).not.toMatch(/changed|cache/);
    expect(settings).toEqual({ providerOptions: {} });
  },
);

it('R46: a model that is an instance of a class keeps its name, its traits and its methods in { ...next }', async () => {
  const reply = (content: string): ModelReply => ({ message: { role: 'assistant', content }, finishReason: 'stop' });
  class Model implements ChatModel {
    readonly #answer = 'one';
    get name() {
      return 'classy';
    }
    get provider() {
      return 'house';
    }
    generate() {
      return Promise.resolve(reply(this.#answer));
    }
    async *stream() {
      yield { type: 'text-delta' as const, text: 'o' };
      yield { type: 'finish' as const, reply: reply(this.#answer) };
    }
  }
  const seen: unknown[] = [];
  const look: ModelMiddleware = (next) => {
    seen.push(next.name, next.provider);
    return { ...next, stream: (request, options) => next.stream?.(request, options) ?? (async function* () {})() };
  };
  const agent = createAgent({ model: new Model(), modelMiddleware: [look, (next) => ({ ...next })] });
  const stream = agent.stream('hello');
  let shown = '';
  for await (const event of stream) if (event.type === 'text-delta') shown += event.text;
  const { text, modelCalls } = await stream.result;
  expect([text, shown, modelCalls[0]?.model]).toEqual(['one', 'o', 'classy']);
  expect((await agent.run('hello')).text).toBe('one');
  expect(seen).toEqual(['classy', 'house']);
});

describe('R46: a reply that is none is told in words, whoever stands around it', () => {
  const reader = (): [string, ModelMiddleware][] => [
    ['logging', logging({ to: () => undefined }).model],
    ['cache', cache()],
  ];
  const replies = [
    undefined,
    null,
    {},
    { message: { role: 'assistant' } },
    { message: { role: 'assistant', content: 5 } },
  ];
  const words = /gave no reply with an assistant message/;

  it.each(reader())('%s', async (_name, around) => {
    for (const reply of replies) {
      const model = {
        name: 'odd',
        generate: async () => reply,
        stream: async function* () {
          yield { type: 'finish', reply };
        },
      } as unknown as ChatModel;
      const agent = createAgent({ model, modelMiddleware: [around] });
      await expect(agent.run('hello')).rejects.toThrow(words);
      const stream = agent.stream('hello');
      for await (const _event of stream) void _event;
      await expect(stream.result).rejects.toThrow(words);
    }
  });

  it.each(reader())('%s, around a middleware of another one that gives none', async (_name, around) => {
    const nothing: ModelMiddleware = (next) => ({ ...next, generate: async () => undefined as never });
    const agent = createAgent({ model: scriptedModel(['hi']), modelMiddleware: [around, nothing] });
    await expect(agent.run('hello')).rejects.toThrow(words);
  });
});

it('R46/LC42: a middleware that gives no model is refused with its place in the list', () => {
  const model = scriptedModel([]);
  const nothing = (() => undefined) as unknown as ModelMiddleware;
  expect(() => createAgent({ model, modelMiddleware: [(next) => next, nothing] })).toThrow(
    expect.objectContaining({
      code: 'invalid-option',
      message: expect.stringContaining('modelMiddleware[1]') as string,
    }),
  );
  expect(() => createAgent({ model, toolMiddleware: ['x'] as never })).toThrow(AgentError);
});

it('R46/LC51: concurrent sessions of one agent do not see each other in a middleware', async () => {
  const seen = new Map<string, string[]>();
  const watch: ModelMiddleware = (next) => ({
    name: next.name,
    generate: async (request, options) => {
      const question = JSON.stringify(request.messages[0]?.content);
      seen.set(question, [...(seen.get(question) ?? []), String(request.messages.length)]);
      return next.generate(request, options);
    },
  });
  const model = scriptedModel(
    Array.from(
      { length: 20 },
      () =>
        ({ messages }) =>
          `answer to ${JSON.stringify(messages[0]?.content)}`,
    ),
  );
  const agent = createAgent({ model, modelMiddleware: [watch] });
  const questions = Array.from({ length: 20 }, (_, index) => `question ${index}`);
  const results = await Promise.all(questions.map((question) => agent.run(question)));
  expect(results.map(({ text }) => text)).toEqual(questions.map((question) => `answer to "${question}"`));
  expect([...seen.values()]).toEqual(questions.map(() => ['1']));
});
