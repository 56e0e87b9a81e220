import { expect, test } from 'vitest';
import { z } from 'zod';
import { type ToolContext, answerCall, createAgent, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { outsideTool, toolOf } from '../support/tools.ts';

const callOf = (toolName: string, input: unknown = {}) =>
  ({ type: 'tool-call', toolCallId: 'c1', toolName, input }) as const;
const double = tool({
  name: 'double',
  inputSchema: z.object({ n: z.number() }),
  execute: ({ n }) => ({ twice: n * 2 }),
});
const broken = toolOf('broken', () => {
  throw new Error('oh no');
});
const refusing = toolOf('refusing', () => new Error('not today'));
const counting = toolOf('counting', async function* () {
  yield 1;
  yield 2;
});
const tools = [double, broken, refusing, counting];

test.each([
  ['what it gives', callOf('double', { n: 2 }), { type: 'json', value: { twice: 4 } }],
  ['the last value of a stream', callOf('counting'), { type: 'json', value: 2 }],
  [
    'arguments that do not fit',
    callOf('double', { n: 'x' }),
    { type: 'error-text', value: expect.stringContaining('n') },
  ],
  ['arguments that are no object', callOf('double', '{"n":'), { type: 'error-text', value: expect.any(String) }],
  ['an unknown tool', callOf('nope'), { type: 'error-text', value: expect.stringContaining('double') }],
  ['a throw', callOf('broken'), { type: 'error-text', value: 'Error: the tool failed.' }],
  ['a returned error', callOf('refusing'), { type: 'error-text', value: 'Error: the tool failed.' }],
])('R15, R16, R17, R18, R45: by hand, %s is the result that the loop would give', async (_, call, output) => {
  expect(await answerCall(call, { tools })).toEqual({
    type: 'tool-result',
    toolCallId: 'c1',
    toolName: call.toolName,
    output,
  });
});

test('R16: with `detailedErrors` the model reads what was thrown', async () => {
  const { output } = await answerCall(callOf('broken'), { tools, detailedErrors: true });
  expect(output).toEqual({ type: 'error-text', value: 'Error: the tool failed. oh no' });
});

test('R45: the tool finds what it was called with, and its turn is nobody’s', async () => {
  const seen: ToolContext[] = [];
  const look = toolOf('look', (_, ctx) => {
    ctx.endTurn();
    ctx.progress(1);
    ctx.tools.clear();
    seen.push(ctx);
  });
  const { signal } = new AbortController();
  await answerCall(callOf('look'), {
    tools: [look],
    context: 'mine',
    messages: [{ role: 'user', content: 'hi' }],
    signal,
  });
  expect(seen[0]).toMatchObject({ callId: 'c1', context: 'mine', messages: [{ content: 'hi' }], attempt: 1 });
  expect(seen[0]?.signal).toBe(signal);
});

test('R45: with its session a call has the key that the loop would give; without, keys of two sessions differ', async () => {
  const keys: string[] = [];
  const look = toolOf('look', (_, { idempotencyKey }) => void keys.push(idempotencyKey));
  const given = { tools: [look] };
  for (const options of [{ ...given, sessionId: 's1' }, { ...given, sessionId: 's1' }, given, given])
    await answerCall(callOf('look'), options);
  expect(keys.slice(0, 2)).toEqual(['s1:c1', 's1:c1']);
  expect(new Set(keys).size).toBe(3);

  const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, 'done']);
  const { sessionId } = await createAgent({ model, tools: [look] }).run('go');
  expect(keys.at(-1)).toBe(`${sessionId}:call_1_0`);
});

test('R45: a call is not run after its signal, and left where the tool does not hear it', async () => {
  const controller = new AbortController();
  let runs = 0;
  const deaf = toolOf('deaf', () => {
    runs += 1;
    controller.abort();
    return new Promise(() => undefined);
  });
  const options = { tools: [deaf], signal: controller.signal };
  const said = async () => (await answerCall(callOf('deaf'), options)).output;
  expect(await said()).toMatchObject({ type: 'error-text', value: expect.stringContaining('its outcome is unknown') });
  expect(await said()).toMatchObject({ type: 'error-text', value: expect.stringContaining('before it started') });
  expect(runs).toBe(1);
});

test('R1: without a list of tools it says what is missing', async () => {
  const answering = answerCall(callOf('double'), {} as never);
  await expect(answering).rejects.toMatchObject({
    code: 'invalid-option',
    message: expect.stringContaining('"tools"'),
  });
});

test('R13, R45: what does not run here is refused', async () => {
  const helper = createAgent({ model: scriptedModel([]) }).asTool({ name: 'helper' });
  for (const given of [outsideTool('ask'), helper]) {
    const answering = answerCall(callOf(given.name), { tools: [given] });
    await expect(answering).rejects.toMatchObject({ code: 'invalid-tool' });
  }
});
