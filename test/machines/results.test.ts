import { expect, test } from 'vitest';
import { z } from 'zod';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { tool } from '../../src/tools/tool.ts';
import { inBothModes } from '../support/run.ts';
import { F1, F2, broken, call, calls, success, toolOf } from '../support/tools.ts';
import { results } from '../support/transcript.ts';

const circular: Record<string, unknown> = { a: 1 };
circular['self'] = circular;

inBothModes('results', (run) => {
  test.each([
    ['a string', 'as it is', 'as it is'],
    ['undefined', undefined, success],
    ['null', null, success],
    ['an object', { a: [1] }, '{"a":[1]}'],
    ['a bigint', 12n, '12'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a map', new Map([['a', 1]]), '{"a":1}'],
    ['a set', new Set([1, 2]), '[1,2]'],
  ])('R15: a tool that returns %s', async (_, value, text) => {
    const model = scriptedModel([calls(call('give')), 'world']);
    const { result } = await run(createAgent({ model, tools: [toolOf('give', () => value)] }), 'hello');
    expect(results(result.messages)).toEqual([text]);
    expect(result.outcome.type).toBe('answered');
    model.assertFinished();
  });

  test('R15: a circular value is JSON with the cycle marked', async () => {
    const model = scriptedModel([calls(call('give')), 'world']);
    const { result } = await run(createAgent({ model, tools: [toolOf('give', () => circular)] }), 'hello');
    expect(results(result.messages)[0]).toMatch(/^\{"a":1,"self":"\[.*ircular.*\]"\}$/);
  });

  test('R15: a result that is too long is cut and says so', async () => {
    const long = toolOf('long', () => 'x'.repeat(500), { maxResultChars: 100 });
    const model = scriptedModel([calls(call('long')), 'world']);
    const { result } = await run(createAgent({ model, tools: [long] }), 'hello');
    const [text = ''] = results(result.messages);
    expect(text.length).toBeLessThan(300);
    expect(text).toMatch(/x{10}/);
    expect(text).toContain('500');
  });

  test('R15: `toModelOutput` has the word', async () => {
    const own = toolOf('own', () => 'secret', { toModelOutput: () => ({ type: 'text', value: 'public' }) });
    const model = scriptedModel([calls(call('own')), 'world']);
    const { result } = await run(createAgent({ model, tools: [own] }), 'hello');
    expect(results(result.messages)).toEqual(['public']);
  });

  test('R15: of a tool that gives several values the last is the result', async () => {
    const steps = toolOf('steps', async function* () {
      yield 'one';
      yield 'two';
    });
    const model = scriptedModel([calls(call('steps')), 'world']);
    const { result, events } = await run(createAgent({ model, tools: [steps] }), 'hello');
    expect(results(result.messages)).toEqual(['two']);
    const progress = events.flatMap((event) => (event.type === 'tool-progress' ? [event.value] : []));
    expect(progress).toEqual(events.length === 0 ? [] : ['one', 'two']);
  });

  test('R16/L26, LC26: the model reads that a tool failed, not why; the run goes on', async () => {
    const model = scriptedModel([calls(call('broken')), 'world']);
    const { result, events } = await run(createAgent({ model, tools: [broken] }), 'hello');
    expect(results(result.messages)).toEqual(['Error: the tool failed.']);
    expect(result.text).toBe('world');
    const told = events.find((event) => event.type === 'tool-result');
    if (events.length > 0) expect(told).toMatchObject({ result: { error: { name: 'Error', message: 'Oh no!' } } });
  });

  test('R16: with `detailedErrors` the message follows, never a stack or a path', async () => {
    const model = scriptedModel([calls(call('broken')), 'world']);
    const { result } = await run(createAgent({ model, tools: [broken], detailedErrors: true }), 'hello');
    expect(results(result.messages)).toEqual(['Error: the tool failed. Oh no!']);
    expect(JSON.stringify(result)).not.toContain('.ts:');
  });

  test('R16: an error that a tool returns is a failure like one that it throws', async () => {
    const model = scriptedModel([calls(call('soft')), 'world']);
    const agent = createAgent({
      model,
      tools: [toolOf('soft', () => new Error('Oh no!'))],
      limits: { maxConsecutiveErrors: 0 },
    });
    const { error } = await run(agent, 'hello');
    expect(error?.code).toBe('error-limit');
  });

  test.each([
    ['nothing', undefined],
    ['text', 'just text'],
    [
      'a hostile object',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('no');
          },
        },
      ),
    ],
  ])('R16: a tool that throws %s settles as failed', async (_, thrown) => {
    const odd = toolOf('odd', () => Promise.reject(thrown as Error));
    const model = scriptedModel([calls(call('odd')), 'world']);
    const { result } = await run(createAgent({ model, tools: [odd] }), 'hello');
    expect(results(result.messages)).toEqual(['Error: the tool failed.']);
  });

  test('R17/LC29: arguments that do not fit give an error that names the field; the model mends them', async () => {
    const model = scriptedModel([calls(call('F2', { i: 'x' })), calls(call('F2', { i: 1 })), 'world']);
    const { result } = await run(createAgent({ model, tools: [F2] }), 'hello');
    const [first = '', second] = results(result.messages);
    expect(first).toContain('i: ');
    expect(first).toContain('the tool did not run');
    expect(second).toBe('Result 2: 1');
    model.assertFinished();
  });

  test.each(['{"i":', '"{}"', '[1]', '7', '{"i":1} and more'])(
    'R17/B45: the text %s is not one JSON object and never runs',
    async (input) => {
      let runs = 0;
      const counted = toolOf('counted', () => (runs += 1));
      const model = scriptedModel([calls(call('counted', input)), 'world']);
      const { result } = await run(createAgent({ model, tools: [counted] }), 'hello');
      expect(runs).toBe(0);
      expect(results(result.messages)[0]).toContain('not one JSON object');
      const sent = model.requests[1]?.messages[1];
      expect(sent).toMatchObject({ content: [{ input: { unreadable_arguments: input } }] });
    },
  );

  test.each(['', 'null', null])('R17/B38: %j counts as {} where the schema accepts {}', async (input) => {
    const model = scriptedModel([calls(call('F1', input), call('F2', input)), 'world']);
    const { result } = await run(createAgent({ model, tools: [F1, F2] }), 'hello');
    expect(results(result.messages)[0]).toBe('Result 1');
    expect(results(result.messages)[1]).toContain('i: ');
  });

  test('R17: arguments with the key `__proto__` are refused, and the session can be saved and opened', async () => {
    const input: unknown = JSON.parse('{"__proto__":{"admin":true},"i":1}');
    const model = scriptedModel([calls(call('F1', input)), 'world']);
    const agent = createAgent({ model, tools: [F1] });
    const { result, session } = await run(agent, 'hello');
    expect(results(result.messages)[0]).toContain('__proto__');
    expect(agent.restore(JSON.stringify(session.toJSON())).messages).toEqual(session.messages);
  });

  test('R15: a result with the key `__proto__` does not keep the session from being opened', async () => {
    const odd = toolOf('odd', () => JSON.parse('{"__proto__":{"admin":true}}'));
    const model = scriptedModel([calls(call('odd')), 'world']);
    const agent = createAgent({ model, tools: [odd] });
    const { session } = await run(agent, 'hello');
    expect(agent.restore(JSON.stringify(session.toJSON())).messages).toEqual(session.messages);
  });

  test('R17: a tool gets what its schema made of the arguments, also what is not JSON', async () => {
    const seen: unknown[] = [];
    const dated = tool({
      name: 'dated',
      inputSchema: { jsonSchema: { type: 'object' }, validate: () => ({ at: new Date(0), n: 5n }) },
      execute: (input) => {
        seen.push(input);
        return 'ok';
      },
    });
    const model = scriptedModel([calls(call('dated', { at: 'x' })), 'world']);
    await run(createAgent({ model, tools: [dated] }), 'hello');
    expect(seen).toEqual([{ at: new Date(0), n: 5n }]);
  });

  test('R18/L41: an unknown tool gives an error that names it; its sibling runs; the loop goes on', async () => {
    const model = scriptedModel([calls(call('nope'), call('F1')), 'done']);
    const { result } = await run(createAgent({ model, tools: [F1] }), 'hello');
    expect(results(result.messages)).toEqual(['Error: there is no tool named "nope". Known tools: F1.', 'Result 1']);
    expect(result.text).toBe('done');
    model.assertFinished();
  });

  test('R18/D09: an agent without tools answers a call all the same', async () => {
    const model = scriptedModel([calls(call('nope')), 'done']);
    const { result } = await run(createAgent({ model }), 'hello');
    expect(results(result.messages)).toEqual(['Error: there is no tool named "nope". There are no tools.']);
  });

  test.each(['functions.F1', ' F1', 'f1'])('R18/B48: %j is not F1', async (name) => {
    const model = scriptedModel([calls(call(name)), 'done']);
    const { result } = await run(createAgent({ model, tools: [F1] }), 'hello');
    expect(results(result.messages)[0]).toContain('there is no tool named');
  });

  test('R18: with `stopOnUnknownTool` the turn fails and no sibling runs; the history is whole', async () => {
    let runs = 0;
    const counted = toolOf('counted', () => (runs += 1));
    const model = scriptedModel([calls(call('counted'), call('nope')), 'mended']);
    const agent = createAgent({ model, tools: [counted], stopOnUnknownTool: true });
    const { error, result, session } = await run(agent, 'hello');
    expect(error?.code).toBe('unknown-tool');
    expect(error?.message).toContain('"nope"');
    expect(runs).toBe(0);
    expect(results(result.messages)).toHaveLength(2);
    await session.retry();
    expect((await session.settled()).text).toBe('mended');
    model.assertFinished();
  });
});

test('R15: a schema with a date reaches its tool after an approval and a restore', async () => {
  const seen: unknown[] = [];
  const dated = tool({
    name: 'dated',
    inputSchema: z.object({ at: z.string().transform((text) => new Date(text)) }),
    needsApproval: true,
    execute: ({ at }) => {
      seen.push(at);
      return at.getUTCFullYear();
    },
  });
  const model = scriptedModel([calls(call('dated', { at: '2020-05-05T00:00:00Z' })), 'world']);
  const agent = createAgent({ model, tools: [dated] });
  const { sessionId } = await agent.run('hello');
  const session = agent.restore((await agent.open(sessionId)).toJSON());
  await session.approve('call_1_0');
  const result = await session.settled();
  expect(seen).toEqual([new Date('2020-05-05T00:00:00Z')]);
  expect(results(result.messages)).toEqual(['2020']);
});
