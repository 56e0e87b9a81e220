import { expect, test } from 'vitest';
import type { ChatModel, ModelChunk, ModelReply } from '../../src/models/chat-model.ts';
import { openaiChat } from '../../src/models/openai/index.ts';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { callPiece, delta, sse, startReplayServer } from '../support/replay-server.ts';
import { expectWhole, runStreamed } from '../support/run.ts';
import { F1, F2, toolOf } from '../support/tools.ts';
import { transcript } from '../support/transcript.ts';

const world: ModelReply = { message: { role: 'assistant', content: 'world' }, finishReason: 'stop' };

/** A model whose streams a test writes by hand, one after the other; asked whole it answers at once. */
const streaming = (...streams: (() => AsyncIterable<ModelChunk>)[]): ChatModel => {
  const left = [...streams];
  return {
    name: 'streaming',
    generate: async () => world,
    stream: () => left.shift()?.() ?? (async function* () {})(),
  };
};

const answered = async function* (): AsyncGenerator<ModelChunk> {
  yield { type: 'finish', reply: world };
};

const toolCall = (toolCallId: string, toolName: string, input: unknown = {}) => ({
  type: 'tool-call' as const,
  toolCallId,
  toolName,
  input,
});

test('R8/L34: two pieces of a stream with one call each become one message with two calls, and one with two results', async () => {
  const calls = sse(
    delta({ role: 'assistant' }),
    delta({ tool_calls: [callPiece(0, 'a', 'F1', '{}')] }),
    delta({ tool_calls: [callPiece(1, 'b', 'F2', '{"i":3}')] }),
    delta({}, 'tool_calls'),
  );
  await using server = await startReplayServer([{ body: calls }, { body: sse(delta({ content: 'world' }, 'stop')) }], {
    strict: true,
  });
  const model = openaiChat({ model: 'scripted', baseURL: server.baseURL, apiKey: 'key' });
  const { result } = await runStreamed(createAgent({ model, tools: [F1, F2] }), 'hello');
  expect(transcript(result.messages)).toEqual([
    'user: hello',
    'assistant: F1{} | F2{"i":3}',
    'tool: Result 1 | Result 2: 3',
    'assistant: world',
  ]);
});

test('A27, D39: each piece of a stream is shown before the next one is there, also text after a call', async () => {
  const seen = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  const pieces: ModelChunk[] = [
    { type: 'text-delta', text: 'First. ' },
    { type: 'tool-input-delta', index: 0, toolName: 'F1', text: '{}' },
    { type: 'text-delta', text: 'Then.' },
  ];
  const model = streaming(async function* () {
    for (const [index, piece] of pieces.entries()) {
      yield piece;
      await seen[index]?.promise;
    }
    yield {
      type: 'finish',
      reply: {
        message: {
          role: 'assistant',
          content: [{ type: 'text', text: 'First. ' }, toolCall('a', 'F1'), { type: 'text', text: 'Then.' }],
        },
        finishReason: 'tool-calls',
      },
    };
  }, answered);
  const agent = createAgent({ model, tools: [F1] });
  const stream = agent.stream('hello');
  const shown: AgentEvent['type'][] = [];
  for await (const { type } of stream) {
    if (type !== 'text-delta' && type !== 'tool-input-delta' && type !== 'tool-call') continue;
    seen[shown.length]?.resolve();
    shown.push(type);
  }
  expect(shown).toEqual(['text-delta', 'tool-input-delta', 'text-delta', 'tool-call']);
  const { messages, text } = await stream.result;
  expect(text).toBe('world');
  expectWhole(messages);
});

test('R5, R26/A28: text passes at once; what people are asked comes when the reply is whole, and of the gated call alone', async () => {
  const gated = toolOf('gated', () => 'gated ran', { needsApproval: true });
  const parts = [toolCall('a', 'F1'), toolCall('b', 'gated'), toolCall('c', 'F1', { n: 1 })];
  const model = streaming(async function* () {
    yield { type: 'text-delta', text: 'One ' };
    yield { type: 'text-delta', text: 'two' };
    for (const [index, { toolName, input }] of parts.entries()) {
      yield { type: 'tool-input-delta', index, toolName, text: JSON.stringify(input) };
    }
    yield {
      type: 'finish',
      reply: {
        message: { role: 'assistant', content: [{ type: 'text', text: 'One two' }, ...parts] },
        finishReason: 'tool-calls',
      },
    };
  }, answered);
  const { events, session } = await runStreamed(createAgent({ model, tools: [F1, gated] }), 'hello');
  const kinds = events
    .map(({ type }) => type)
    .filter((type) => !['transition', 'usage', 'step-start', 'message-fate'].includes(type));
  expect(kinds).toEqual([
    'text-delta',
    'text-delta',
    'tool-input-delta',
    'tool-input-delta',
    'tool-input-delta',
    'step-finish',
    'tool-call',
    'tool-call',
    'tool-call',
    'approval-request',
    'finish',
  ]);
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'approval-request', callId: 'call_1_1', tool: 'gated' }),
  );
  await session.approve('call_1_1');
  expect((await session.settled()).text).toBe('world');
  expectWhole(session.messages);
});
