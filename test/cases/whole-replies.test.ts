import { expect, test } from 'vitest';
import { z } from 'zod';
import { AgentError } from '../../src/errors.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { tool } from '../../src/tools/tool.ts';
import { type WireCall, atOnce, provider, wireTranscript } from '../support/provider.ts';
import { expectWhole, inBothModes } from '../support/run.ts';
import { counter, reopened } from '../support/sessions.ts';
import { success, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const once = (args: unknown, name = 'f'): { calls: WireCall[] } => ({ calls: [{ id: 'c1', name, args }] });

/** A tool that notes what it was run with. */
const noting = <S extends z.ZodType>(name: string, inputSchema: S, options: { needsApproval?: boolean } = {}) => {
  const noted = counter<unknown>(() => 'ok');
  return { runs: noted.calls, tool: tool({ ...options, name, inputSchema, execute: noted.run }) };
};

const textOfTools = (body: Record<string, unknown> | undefined): string => JSON.stringify(body?.['tools']);

inBothModes('calls and results of odd servers', (run) => {
  test.each(['', '  ', 'null'])('B38: no arguments (%j) are {} where the schema takes it', async (args) => {
    const now = noting('now', z.object({}));
    await using from = await provider([once(args, 'now'), 'done']);
    const { result } = await run(createAgent({ model: from.model, tools: [now.tool] }), 'go');
    expect(now.runs).toEqual([{}]);
    expect(result.text).toBe('done');
  });

  test('B38: where a field is needed the model is told which', async () => {
    const find = noting('find', z.object({ q: z.string() }));
    await using from = await provider([once('', 'find'), 'done']);
    const { result } = await run(createAgent({ model: from.model, tools: [find.tool] }), 'go');
    expect(find.runs).toEqual([]);
    expect(results(result.messages)[0]).toMatch(/not valid.*\n- q: /);
  });

  test('B38: a call without arguments that needs approval is asked for and runs with {}', async () => {
    const now = noting('now', z.object({}), { needsApproval: true });
    await using from = await provider([once('', 'now'), 'done']);
    const agent = createAgent({ model: from.model, tools: [now.tool] });
    const { result, session } = await run(agent, 'go');
    expect(result.pending).toMatchObject([{ tool: 'now', input: {} }]);
    const later = reopened(agent, session);
    await later.approve('call_1_0');
    expect((await later.settled()).text).toBe('done');
    expect(now.runs).toEqual([{}]);
    expectWhole(later.messages);
  });

  test('B40: arguments that are an object run as they are, and go back as text', async () => {
    const write = noting('write', z.object({ path: z.string(), n: z.number() }));
    await using from = await provider([once({ path: 'a.txt', n: 1 }, 'write'), 'done']);
    const { result } = await run(createAgent({ model: from.model, tools: [write.tool] }), 'go');
    expect(write.runs).toEqual([{ path: 'a.txt', n: 1 }]);
    expect(wireTranscript(from.sent(1))[1]).toBe('assistant: write({"path":"a.txt","n":1})');
    expect(result.text).toBe('done');
  });

  test.each([
    [
      'a list as text',
      '{"todos":"[{\\"t\\":\\"x\\"}]"}',
      z.object({ todos: z.array(z.object({ t: z.string() })) }),
      'todos',
    ],
    ['encoded twice', '"{\\"q\\":1}"', z.object({ q: z.number() }), 'encode'],
  ])('B41: values in the wrong coat (%s) are not guessed at; the model is told', async (_, args, schema, named) => {
    const f = noting('f', schema);
    await using from = await provider([once(args), 'done']);
    const { result } = await run(createAgent({ model: from.model, tools: [f.tool] }), 'go');
    expect(f.runs).toEqual([]);
    expect(results(result.messages)[0]).toContain(named);
    expect(result.text).toBe('done');
  });

  test.each(['[1,2]', '42', '{"a":1}'])('B41: a text that looks like JSON (%s) stays a text', async (text) => {
    const f = noting('f', z.object({ text: z.string() }));
    await using from = await provider([once(JSON.stringify({ text })), 'done']);
    await run(createAgent({ model: from.model, tools: [f.tool] }), 'go');
    expect(f.runs).toEqual([{ text }]);
  });

  test.each(['```json\n{"path":"a.txt"}\n```', '{"path":"a.txt"} trailing text'])(
    'B42: arguments in a fence or with prose (%j) are an error, and nothing runs on {}',
    async (args) => {
      const f = noting('f', z.looseObject({}));
      await using from = await provider([once(args), 'done']);
      const { result } = await run(createAgent({ model: from.model, tools: [f.tool] }), 'go');
      expect(f.runs).toEqual([]);
      expect(results(result.messages)[0]).toContain('not one JSON object');
    },
  );

  test('B44: unreadable arguments stay in the session as they came and never block a later request', async () => {
    const raw = '{"cmd":"a\\vb"}';
    const f = noting('f', z.object({ cmd: z.string() }));
    await using from = await provider([once(raw), 'done', 'again']);
    const agent = createAgent({ model: from.model, tools: [f.tool] });
    const { session } = await run(agent, 'go');
    expect(transcript(session.messages)[1]).toBe(`assistant: f${JSON.stringify(raw)}`);
    const { result } = await run(agent, 'more', { session: session.toJSON() });
    expect(result.text).toBe('again');
    expect(wireTranscript(from.sent(2))[1]).toBe(`assistant: f(${JSON.stringify({ unreadable_arguments: raw })})`);
  });

  test('B45: a reply whose calls are all unreadable does not end the run', async () => {
    const f = noting('f', z.object({ a: z.number() }));
    await using from = await provider([once('{"a":'), once('{"a":1}'), 'done']);
    const { result } = await run(createAgent({ model: from.model, tools: [f.tool] }), 'go');
    expect(result.outcome.type).toBe('answered');
    expect(result.text).toBe('done');
    expect(f.runs).toEqual([{ a: 1 }]);
    expect(results(result.messages)).toHaveLength(2);
  });

  test('B47: an unknown tool beside a known one: the known one runs each time, the run goes on', async () => {
    const ok = noting('ok', z.object({}));
    const round = (n: number) => ({
      calls: [
        { id: `a${n}`, name: 'nope' },
        { id: `b${n}`, name: 'ok' },
      ],
    });
    await using from = await provider([round(1), round(2), 'done']);
    const agent = createAgent({ model: from.model, tools: [ok.tool], limits: { maxConsecutiveErrors: 2 } });
    const { result } = await run(agent, 'go');
    expect(result.text).toBe('done');
    expect(ok.runs).toHaveLength(2);
    expect(results(result.messages)[0]).toContain('Known tools: ok');
    expect(from.sent(2).filter(({ role }) => role === 'tool')).toHaveLength(4);
  });

  test.each(['functions.bash', 'bash<|channel|>commentary', ' bash', 'Bash', 'read_module'])(
    'B48: a name that is not exactly one of ours (%j) is an unknown tool: nobody is asked, nothing runs',
    async (name) => {
      const bash = noting('bash', z.object({}), { needsApproval: true });
      const module = noting('code__read_module', z.object({}));
      await using from = await provider([once('{}', name), 'done']);
      const agent = createAgent({ model: from.model, tools: [bash.tool, module.tool] });
      const { result } = await run(agent, 'go');
      expect(result.pending).toEqual([]);
      expect(results(result.messages)[0]).toContain(`there is no tool named ${JSON.stringify(name)}`);
      expect([...bash.runs, ...module.runs]).toEqual([]);
      expect(result.text).toBe('done');
    },
  );

  test('B50: one id on two calls: both run, and each is sent with an id of its own and its own result', async () => {
    const read = tool({ name: 'read', inputSchema: z.object({ f: z.string() }), execute: ({ f }) => `file ${f}` });
    const twice = [
      { id: 'edit:22', name: 'read', args: '{"f":"A"}' },
      { id: 'edit:22', name: 'read', args: '{"f":"B"}' },
      { id: 'edit:22', name: 'read', args: '{"f":"B"}' },
    ];
    await using from = await provider([{ calls: twice }, 'done']);
    const { result } = await run(createAgent({ model: from.model, tools: [read] }), 'go');
    expect(results(result.messages)).toEqual(['file A', 'file B']);
    const [, asked, ...answered] = from.sent(1);
    const ids = ((asked?.['tool_calls'] ?? []) as { id: string }[]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(answered.map(({ tool_call_id: id }) => id)).toEqual(ids);
  });

  test('B51: ids that come again in later turns, over a reload: each call has its own result', async () => {
    const read = tool({ name: 'read', inputSchema: z.object({ f: z.string() }), execute: ({ f }) => `file ${f}` });
    const asking = (f: string) => ({ calls: [{ id: 'call_0', name: 'read', args: JSON.stringify({ f }) }] });
    await using from = await provider([asking('A'), 'one', asking('B'), 'two', asking('A'), 'three']);
    const agent = createAgent({ model: from.model, tools: [read] });
    const first = await run(agent, 'a');
    const second = await run(agent, 'b', { session: first.session.toJSON() });
    const third = await run(agent, 'c', { session: second.session.toJSON() });
    expect(third.result.text).toBe('three');
    const last = from.sent(5);
    const called = last.flatMap(({ tool_calls: made }) => (made as { id: string }[] | undefined) ?? []);
    const answered = last.filter(({ role }) => role === 'tool');
    expect(answered.map(({ tool_call_id: id }) => id)).toEqual(called.map(({ id }) => id));
    expect(answered.map(({ content }) => content)).toEqual(['file A', 'file B', 'file A']);
  });

  test('B53: an agent without tools sends no list of tools, in no request', async () => {
    await using from = await provider([once('{}', 'made_up'), 'done']);
    const { result } = await run(createAgent({ model: from.model, tools: [], toolChoice: 'auto' }), 'go');
    expect(result.text).toBe('done');
    for (const { body } of from.server.requests) expect(body).not.toHaveProperty('tools');
  });

  test('B53: nor does the last call at a limit, or one after all tools were taken away', async () => {
    const clear = toolOf('clear', (_, ctx) => ctx.tools.clear());
    await using from = await provider([once('{}', 'clear'), 'done', once('{}', 'clear'), 'limited']);
    const agent = createAgent({ model: from.model, tools: [clear], toolChoice: 'required' });
    expect((await run(agent, 'go')).result.text).toBe('done');
    expect((await run(agent, 'go', { limits: { maxIterations: 1 } })).result.text).toBe('limited');
    for (const at of [1, 3]) {
      expect(from.server.requests[at]?.body).not.toHaveProperty('tools');
      expect(from.server.requests[at]?.body).not.toHaveProperty('tool_choice');
    }
  });

  test('B55: whether calls may be parallel is said only where it was set and tools go along', async () => {
    const f = noting('f', z.object({}));
    await using from = await provider(['bare', once('{}'), 'done', 'plain']);
    const settings = { parallelToolCalls: false };
    await run(createAgent({ model: from.model, settings }), 'go');
    await run(createAgent({ model: from.model, tools: [f.tool], settings, limits: { maxIterations: 1 } }), 'go');
    await run(createAgent({ model: from.model, tools: [f.tool] }), 'go');
    const said = from.server.requests.map(({ body }) => body['parallel_tool_calls']);
    expect(said).toEqual([undefined, false, undefined, undefined]);
  });

  test('B55: a server that does not know the option refuses once, with its own words', async () => {
    const f = noting('f', z.object({}));
    const error = { message: "Unsupported parameter: 'parallel_tool_calls'", code: 'unsupported_parameter' };
    await using from = await provider([{ status: 400, json: { error } }, 'never']);
    const agent = createAgent({
      model: from.model,
      tools: [f.tool],
      settings: { parallelToolCalls: true },
      retry: atOnce,
    });
    const { error: failed } = await run(agent, 'go');
    expect(failed?.message).toContain("Unsupported parameter: 'parallel_tool_calls'");
    expect(failed?.cause).toMatchObject({ status: 400 });
    expect(from.server.requests).toHaveLength(1);
  });

  test('B59: in strict mode what the model leaves out by null is absent, defaulted or null, as the schema says', async () => {
    const schema = z.object({
      q: z.string(),
      limit: z.number().optional(),
      page: z.number().default(1),
      tag: z.string().nullable(),
    });
    const f = noting('f', schema);
    const gated = noting('gated', schema, { needsApproval: true });
    const args = '{"q":"cats","limit":null,"page":null,"tag":null}';
    await using from = await provider([once(args), once(args, 'gated'), 'done'], { strict: true });
    const { result, session } = await run(createAgent({ model: from.model, tools: [f.tool, gated.tool] }), 'go');
    expect(f.runs).toEqual([{ q: 'cats', page: 1, tag: null }]);
    expect(result.pending[0]?.input).toEqual({ q: 'cats', page: 1, tag: null });
    await session.approve('call_2_0');
    expect((await session.settled()).text).toBe('done');
    expect(gated.runs).toEqual([{ q: 'cats', page: 1, tag: null }]);
  });

  test('B60: a choice between shapes inside the arguments goes out as anyOf, and both shapes run', async () => {
    const repeat = z.discriminatedUnion('type', [
      z.object({ type: z.literal('once') }),
      z.object({ type: z.literal('weekly'), day: z.number() }),
    ]);
    const f = noting('f', z.object({ repeat }));
    const args = ['{"repeat":{"type":"once"}}', '{"repeat":{"type":"weekly","day":2}}', '{"repeat":{"type":"weekly"}}'];
    await using from = await provider([
      { calls: args.map((each, index) => ({ id: `c${index}`, name: 'f', args: each })) },
      'done',
    ]);
    const { result } = await run(createAgent({ model: from.model, tools: [f.tool] }), 'go');
    expect(f.runs).toEqual([{ repeat: { type: 'once' } }, { repeat: { type: 'weekly', day: 2 } }]);
    expect(results(result.messages)[2]).toContain('repeat.day');
    const tools = textOfTools(from.server.requests[0]?.body);
    expect(tools).toContain('anyOf');
    expect(tools).not.toContain('oneOf');
    expect(tools).not.toContain('$schema');
  });

  test('B62: arguments that nest in themselves are checked at every depth', async () => {
    const Node = z.object({
      name: z.string(),
      get kids() {
        return z.array(Node);
      },
    });
    const f = noting('f', Node);
    const deep = { name: 'a', kids: [{ name: 'b', kids: [{ name: 'c', kids: [] }] }] };
    const wrong = { name: 'a', kids: [{ name: 'b', kids: [{ name: 3, kids: [] }] }] };
    await using from = await provider([once(JSON.stringify(deep)), once(JSON.stringify(wrong)), 'done']);
    const { result } = await run(createAgent({ model: from.model, tools: [f.tool] }), 'go');
    expect(f.runs).toEqual([deep]);
    expect(results(result.messages)[1]).toContain('kids[0].kids[0].name');
    expect(textOfTools(from.server.requests[0]?.body)).toContain('$ref');
  });

  test('B63: a check that takes its time works, one that says no is told, one that throws is told', async () => {
    const schema = z.object({
      id: z.string().refine(async (id) => {
        if (id === 'throws') throw new Error('no database');
        return id === 'ok';
      }),
    });
    const f = noting('f', schema);
    const asked = ['ok', 'no', 'throws'].map((id, at) => ({ id: `c${at}`, name: 'f', args: JSON.stringify({ id }) }));
    await using from = await provider([{ calls: asked }, 'done']);
    const { result } = await run(createAgent({ model: from.model, tools: [f.tool] }), 'go');
    expect(f.runs).toEqual([{ id: 'ok' }]);
    expect(results(result.messages)[1]).toContain('- id: ');
    expect(results(result.messages)[2]).toContain('no database');
    expect(result.text).toBe('done');
  });

  const odd: [string, () => unknown, string | RegExp][] = [
    [
      'circular',
      () => {
        const o: Record<string, unknown> = {};
        o['self'] = o;
        return o;
      },
      /\[Circular/,
    ],
    ['a bigint inside', () => ({ n: 10n }), /10/],
    [
      'a toJSON that throws',
      () => ({
        toJSON: () => {
          throw new Error('x');
        },
      }),
      /./,
    ],
    [
      'a getter that throws',
      () => ({
        get bad() {
          throw new Error('x');
        },
      }),
      /./,
    ],
    [
      'a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return { proxy };
      },
      /./,
    ],
    ['nothing', () => undefined, success],
    ['null', () => null, success],
    ['an empty text', () => '', success],
    ['a symbol', () => Symbol('x'), 'Symbol(x)'],
    ['a function', () => () => 1, /function/],
    ['NaN', () => Number.NaN, 'NaN'],
    ['a map', () => new Map([['a', 1]]), '{"a":1}'],
    ['a set', () => new Set([1]), '[1]'],
    ['bytes', () => Buffer.from('hi'), /1 file/],
    ['a date', () => new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a date that is none', () => new Date(Number.NaN), /./],
  ];
  test.each(odd)(
    'B65, B66: a tool that returns %s is run once and has a result that is a text',
    async (_, give, expected) => {
      const f = counter(give);
      await using from = await provider([once('{}'), 'done']);
      const agent = createAgent({ model: from.model, tools: [toolOf('f', f.run)] });
      const { result, session } = await run(agent, 'go');
      expect(f.calls).toHaveLength(1);
      expect(result.text).toBe('done');
      const sent = from.sent(1).find(({ role }) => role === 'tool')?.['content'];
      expect(sent).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
      expect(() => JSON.stringify(session)).not.toThrow();
    },
  );

  const failing: [string, () => unknown, RegExp][] = [
    ['returns an error', () => new Error('disk full'), /disk full/],
    ['rejects with a text', () => Promise.reject('disk full' as unknown as Error), /disk full/],
    ['rejects with nothing', () => Promise.reject(undefined as unknown as Error), /failed/],
  ];
  test.each(failing)('B66: a tool that %s has failed, and says what is known', async (_, give, expected) => {
    await using from = await provider([once('{}'), 'done']);
    const { result } = await run(
      createAgent({ model: from.model, tools: [toolOf('f', give)], detailedErrors: true }),
      'go',
    );
    expect(results(result.messages)[0]).toMatch(expected);
    expect(result.messages[2]).toMatchObject({ content: [{ providerOptions: { agentchart: { status: 'failed' } } }] });
  });
});

test('B57: a schema that has no JSON form is refused where the tool is made, by name and path; other tools work', async () => {
  const kinds = {
    when: z.date(),
    count: z.bigint(),
    table: z.map(z.string(), z.number()),
    exact: z.literal(9007199254740993n),
    bytes: z.instanceof(Uint8Array),
  };
  for (const [field, type] of Object.entries(kinds)) {
    const make = () => tool({ name: 'bad', inputSchema: z.object({ [field]: type }), execute: () => 1 });
    expect(make).toThrow(AgentError);
    expect(make).toThrow(new RegExp(`bad.*${field}`, 's'));
  }
  await using from = await provider([once('{}'), 'done']);
  const { tool: f } = noting('f', z.object({}));
  expect((await createAgent({ model: from.model, tools: [f] }).run('go')).text).toBe('done');
});

test.each([
  ['a choice', z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })])],
  ['a union', z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
  ['a text', z.string()],
  ['a list', z.array(z.string())],
])('B60: arguments that are %s at the root are refused where the tool is made', (_, inputSchema) => {
  expect(() => tool({ name: 'bad', inputSchema, execute: () => 1 })).toThrow(/bad.*object/s);
});
