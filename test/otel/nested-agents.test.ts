import { SpanStatusCode } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { type Tool, createAgent } from '../../src/index.ts';
import { withTelemetry } from '../../src/otel/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { recorder, treeOf } from './telemetry.ts';

type Answers = Parameters<typeof scriptedModel>[0];

const look = toolOf('look', () => 'seen');
const pay = toolOf('pay', () => 'paid', { needsApproval: true });

/** Agents with telemetry of their own that tell one recorder. */
const makeIn = (seen: ReturnType<typeof recorder>) => (name: string, answers: Answers, tools: Tool[]) => {
  const model = scriptedModel(answers, { name: `${name}-model` });
  return createAgent(withTelemetry({ name, model, tools, retry: { attempts: 1 } }, seen));
};

it.each(['whole', 'streamed'])('agents inside calls are invoke_agent of their own, side by side, %s', async (mode) => {
  const seen = recorder();
  const make = makeIn(seen);
  const ask = (name: string, text: string, tools: Tool[]) =>
    make(name, [calls(call(tools[0]?.name ?? '', { prompt: 'go' })), { text, usage: { inputTokens: 5 } }], tools);
  const deep = ask('deep', 'from deep', [look]);
  const first = ask('first', 'from first', [deep.asTool({ name: 'deep' })]);
  const second = ask('second', 'from second', [look]);
  const helpers = [first.asTool({ name: 'first' }), second.asTool({ name: 'second' })];
  const main = make(
    'main',
    [calls(call('first', { prompt: 'a' }), call('second', { prompt: 'b' })), 'done'],
    [...helpers],
  );
  const stream = main.stream('go', { session: 's' });
  if (mode === 'streamed') for await (const _event of stream) void _event;
  expect((await stream.result).text).toBe('done');

  const spans = seen.spans();
  const tree = treeOf(spans);
  const under = (name: string): string[] => {
    const at = tree.findIndex((line) => line.trim() === `invoke_agent ${name}`);
    const depth = tree[at]?.search(/\S/) ?? 0;
    const end = tree.findIndex((line, index) => index > at && line.search(/\S/) <= depth);
    return tree.slice(at, end === -1 ? undefined : end).map((line) => line.slice(depth));
  };
  const looks = (name: string) => [
    `invoke_agent ${name}`,
    `  chat ${name}-model`,
    '  execute_tool look',
    `  chat ${name}-model`,
  ];
  expect(under('deep')).toEqual(looks('deep'));
  expect(under('second')).toEqual(looks('second'));
  const inside = looks('deep').map((line) => `  ${line}`);
  expect(under('first')).toEqual(['invoke_agent first', '  chat first-model', ...inside, '  chat first-model']);
  expect(tree.filter((line) => !line.startsWith('    '))).toEqual([
    'invoke_agent main',
    '  chat main-model',
    '  invoke_agent first',
    '  invoke_agent second',
    '  chat main-model',
  ]);
  const attributes = (name: string) => spans.find((span) => span.name === `invoke_agent ${name}`)?.attributes;
  expect(attributes('first')).toMatchObject({
    'gen_ai.conversation.id': 's/call_1_0',
    'gen_ai.request.model': 'first-model',
    'gen_ai.usage.input_tokens': 10,
  });
  expect(attributes('second')).toMatchObject({
    'gen_ai.conversation.id': 's/call_1_1',
    'gen_ai.usage.input_tokens': 5,
  });
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
});

it('an agent inside a call that fails is an error, and what it was asked before the turn went on is not open any more', async () => {
  const seen = recorder();
  const make = makeIn(seen);
  const helper = make('helper', [new TypeError('no network')], []).asTool({ name: 'helper' });
  await make('main', [calls(call('helper', { prompt: 'a' })), 'done'], [helper]).run('go');
  const found = seen.spans().find(({ name }) => name === 'invoke_agent helper');
  expect(found?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no network' });
  expect(found?.attributes['error.type']).toBe('TypeError');
});

it('an agent inside a call that waits is in both stretches of the turn, each time once', async () => {
  const seen = recorder();
  const make = makeIn(seen);
  const helper = make('helper', [calls(call('pay')), 'paid'], [pay]).asTool({ name: 'helper' });
  const main = make('main', [calls(call('helper', { prompt: 'a' })), 'done'], [helper]);
  const { pending, sessionId } = await main.run('go');
  const session = await main.open(sessionId);
  await session.approve(pending[0]?.callId ?? '');
  expect((await session.settled()).text).toBe('done');
  expect(treeOf(seen.spans())).toEqual([
    'invoke_agent main',
    '  chat main-model',
    '  invoke_agent helper',
    '    chat helper-model',
    'invoke_agent main',
    '  invoke_agent helper',
    '    execute_tool pay',
    '    chat helper-model',
    '  chat main-model',
  ]);
});
