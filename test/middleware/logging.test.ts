import { describe, expect, it } from 'vitest';
import { AgentError, type Tool, createAgent } from '../../src/index.ts';
import {
  type LogEntry,
  type LogLevel,
  type LoggingOptions,
  cache,
  logging,
  redactSecrets,
} from '../../src/middleware/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { rejection } from '../support/sessions.ts';
import { broken, call, calls, toolOf } from '../support/tools.ts';

const usage = { inputTokens: 3, outputTokens: 1 };
const login = toolOf('login', () => ({ token: 'abc', greeting: 'hi' }));

const make = (answers: Parameters<typeof scriptedModel>[0], options: LoggingOptions = {}) => {
  const entries: LogEntry[] = [];
  const log = logging({ to: (entry) => entries.push(entry), ...options });
  const agent = createAgent({
    model: scriptedModel(answers, { name: 'm' }),
    tools: [login, broken],
    retry: { attempts: 1 },
    agentMiddleware: [log.turn],
    modelMiddleware: [log.model],
    toolMiddleware: [log.tool],
  });
  return { agent, entries };
};
const timeless = (entries: readonly LogEntry[]) =>
  entries.map(({ ms, ...entry }) => ({ ...entry, hasTime: typeof ms === 'number' }));

describe.each(['whole', 'streamed'] as const)('logging, %s', (mode) => {
  const run = async ({ agent }: ReturnType<typeof make>, question: string) => {
    if (mode === 'whole') return agent.run(question);
    const stream = agent.stream(question);
    for await (const _event of stream) void _event;
    return stream.result;
  };

  it('tells ends with time, outcome and usage, in the order of the work, and nothing of what was said', async () => {
    const made = make([calls(call('login', { name: 'a private name' })), { text: 'a private answer', usage }]);
    const { sessionId } = await run(made, 'a private question');
    const about = { level: 'info', sessionId, hasTime: true };
    expect(timeless(made.entries)).toEqual([
      { ...about, event: 'model-end', model: 'm', outcome: 'tool-calls' },
      { ...about, event: 'tool-end', tool: 'login', callId: 'call_1_0', attempt: 1 },
      { ...about, event: 'model-end', model: 'm', outcome: 'stop', usage },
      { ...about, event: 'turn-end', agent: 'agent', isContinued: false, outcome: 'answered', usage },
    ]);
    expect(JSON.stringify(made.entries)).not.toContain('private');
  });

  it('tells failures with their error: of a tool as a warning, of a model and a turn as errors', async () => {
    const made = make([calls(call('broken')), new Error('no network')]);
    await rejection(run(made, 'hello'));
    expect(made.entries.map(({ level, event, error }) => [level, event, error?.message])).toEqual([
      ['info', 'model-end', undefined],
      ['warn', 'tool-failed', 'Oh no!'],
      ['error', 'model-failed', 'no network'],
      ['error', 'turn-failed', 'no network'],
    ]);
  });
});

it('logging with content tells what went in and out, without secrets', async () => {
  const key = `sk-${'a1'.repeat(12)}`;
  const { agent, entries } = make([calls(call('login', { name: 'ann', password: 'hunter2' })), 'you are in'], {
    content: true,
    level: 'debug',
  });
  await agent.run(`my key is ${key}`);
  expect(entries.map(({ event, content }) => [event, content])).toEqual([
    ['turn-begin', [{ role: 'user', content: 'my key is [redacted]' }]],
    ['model-begin', [{ role: 'user', content: 'my key is [redacted]' }]],
    ['model-end', [expect.objectContaining({ input: { name: 'ann', password: '[redacted]' } })]],
    ['tool-begin', { name: 'ann', password: '[redacted]' }],
    ['tool-end', { token: '[redacted]', greeting: 'hi' }],
    ['model-begin', expect.any(Array)],
    ['model-end', [{ type: 'text', text: 'you are in' }]],
    ['turn-end', 'you are in'],
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/hunter2|sk-a1/);
});

const logTools = async (tools: Tool[], signal?: AbortSignal): Promise<LogEntry[]> => {
  const entries: LogEntry[] = [];
  const log = logging({ to: (entry) => entries.push(entry), content: true });
  const model = scriptedModel([calls(...tools.map(({ name }) => call(name))), 'done']);
  await createAgent({ model, tools, toolMiddleware: [log.tool], concurrency: 1, stopGrace: 1 }).run(
    'go',
    signal && { signal },
  );
  return entries;
};

it('logging of a tool that gives values one by one ends with the last value, or with what it throws', async () => {
  const entries = await logTools([
    toolOf('counts', async function* () {
      yield 1;
      yield 2;
    }),
    toolOf('breaks', async function* () {
      yield 1;
      throw new Error('later');
    }),
  ]);
  expect(entries.map(({ event, tool, content, error }) => [event, tool, content, error?.message])).toEqual([
    ['tool-end', 'counts', 2, undefined],
    ['tool-failed', 'breaks', undefined, 'later'],
  ]);
});

it('logging with content tells of values that JSON does not have', async () => {
  const round: { self?: unknown } = {};
  round.self = round;
  const entries = await logTools([
    toolOf('counts', () => ({ count: 10n, seen: new Map([['a', new Date(0)]]) })),
    toolOf('rounds', () => round),
  ]);
  expect(entries.map(({ content }) => content)).toEqual([
    { count: '10', seen: { a: '1970-01-01T00:00:00.000Z' } },
    { self: '[Circular]' },
  ]);
});

it('logging with content leaves out all that stands under a name of secrets, not only a text', async () => {
  const entries = await logTools([
    toolOf('leaks', () => ({ apiKey: ['k1', 'k2'], login: { secret: { inner: 'deep' }, token: 99, none: null } })),
  ]);
  expect(entries[0]?.content).toEqual({
    apiKey: '[redacted]',
    login: { secret: '[redacted]', token: '[redacted]', none: null },
  });
});

it('logging tells that a tool was stopped, also one that does not hear of it', async () => {
  const stopper = new AbortController();
  const entries = await logTools(
    [
      toolOf('deaf', () => {
        stopper.abort();
        return new Promise(() => undefined);
      }),
    ],
    stopper.signal,
  );
  expect(entries.map(({ event, tool }) => [event, tool])).toEqual([['tool-failed', 'deaf']]);
});

it.each([{ level: 'verbose' }, { to: {} }, { redact: 1 }, { lvl: 'info' }])('logging refuses %j', (options: object) => {
  expect(() => logging(options)).toThrow(AgentError);
  expect(() => logging(options)).toThrow(/^logging: /);
});

it.each([
  ['debug', 8],
  ['info', 4],
  ['warn', 0],
  ['error', 0],
] as const)('logging from %s on', async (level, count) => {
  const { agent, entries } = make([calls(call('login')), 'hi'], { level });
  await agent.run('hello');
  expect(entries).toHaveLength(count);
});

it('logging writes to what has a function for each level, and an own redaction takes the place of the default', async () => {
  const seen: [LogLevel, LogEntry][] = [];
  const at = (level: LogLevel) => (entry: LogEntry) => void seen.push([level, entry]);
  const log = logging({
    to: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    content: true,
    redact: (text) => text.replaceAll('Bern', '#'),
  });
  await createAgent({ model: scriptedModel(['in Bern']), agentMiddleware: [log.turn] }).run('where?');
  expect(seen.map(([level, { event, content }]) => [level, event, content])).toEqual([['info', 'turn-end', 'in #']]);
});

it('a log that throws or rejects disturbs nothing', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  const full = new Error('the disk is full');
  const { agent } = make(['hi', 'again'], {
    to: () => {
      throw full;
    },
  });
  expect((await agent.run('hello')).text).toBe('hi');
  const { agent: late } = make(['hi'], { to: (() => Promise.reject(full)) as () => void });
  expect((await late.run('hello')).text).toBe('hi');
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

it.each([
  ['Authorization: Bearer abcdefgh12345678', 'Authorization: Bearer [redacted]'],
  ['https://ann:pa55@example.com/x', 'https://ann:[redacted]@example.com/x'],
  ['API_KEY=1234abcd; next', 'API_KEY=[redacted]; next'],
  ['{"password":"hunter2"}', '{"password":"[redacted]"}'],
  ['{"password":"correct horse, \\"battery\\""}', '{"password":"[redacted]"}'],
  ["secret = 'two words'", "secret = '[redacted]'"],
  [String.raw`"{\"password\":\"hunter2\"}"`, String.raw`"{\"password\":\"[redacted]\"}"`],
  [`ghp_${'x'.repeat(36)}`, '[redacted]'],
  ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
  ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----', '[redacted]'],
  ['eyJhbGciOiJI.eyJzdWIiOiIx.c2ln', '[redacted]'],
  ['the task-force met; 12 tokens; no secret here', 'the task-force met; 12 tokens; no secret here'],
])('what looks like a secret in %j is redacted', (text, expected) => {
  expect(redactSecrets(text)).toBe(expected);
});

it.each([undefined, null, 'text', {}])('a model that gives %s fails as it does without middleware', async (reply) => {
  const model = { name: 'empty', generate: () => Promise.resolve(reply as never) };
  const told = 'the model "empty" gave no reply with an assistant message in it';
  for (const middleware of [[], [logging({ to: () => undefined }).model], [cache()]]) {
    const agent = createAgent({ model, modelMiddleware: middleware });
    expect(await rejection(agent.run('Hi'))).toMatchObject({ message: expect.stringContaining(told) });
  }
});
