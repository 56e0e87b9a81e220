import { simulateReadableStream } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { expect, test } from 'vitest';
import { aiSdkModel } from '../../src/ai-sdk/index.ts';
import { createAgent } from '../../src/index.ts';
import { inBothModes } from '../support/run.ts';
import { toolOf } from '../support/tools.ts';
import { usage } from './mock.ts';

type Generate = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;
type Stream =
  Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

const image = { type: 'file', mediaType: 'image/png', data: 'aWE=' } as const;
const replies: Generate['content'][] = [
  [image, { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{"at":"sky"}' }],
  [{ type: 'text', text: 'blue' }],
];
const finish = { finishReason: { unified: 'stop', raw: 'end' }, usage } as const;

/** A model as providers made it for the AI SDK 6: files are data without a tag. */
const earlier = () => {
  const left = [...replies];
  return new MockLanguageModelV3({
    doGenerate: async () => ({ content: left.shift() ?? [], ...finish, warnings: [] }),
    doStream: async () => {
      const chunks = (left.shift() ?? []).flatMap((part, index): Stream[] => {
        const id = String(index);
        if (part.type !== 'text') return [part as Stream];
        return [
          { type: 'text-start', id },
          { type: 'text-delta', id, delta: part.text },
          { type: 'text-end', id },
        ];
      });
      return {
        stream: simulateReadableStream<Stream>({
          chunks: [{ type: 'stream-start', warnings: [] }, ...chunks, { type: 'finish', ...finish }],
          chunkDelayInMs: null,
          initialDelayInMs: null,
        }),
      };
    },
  });
};

inBothModes('a model of an earlier version of the AI SDK', (run) => {
  test('is asked as one of this version, and gets what it gave in its own form', async () => {
    const model = earlier();
    const agent = createAgent({ model: aiSdkModel(model), tools: [toolOf('look', () => 'blue')] });
    const { result } = await run(agent, 'which colour?');
    expect(result.text).toBe('blue');
    expect(result.usage).toMatchObject({ inputTokens: 20, outputTokens: 10, cachedInputTokens: 6 });
    expect(result.messages[1]).toMatchObject({ content: [image, { type: 'tool-call', input: { at: 'sky' } }] });
    const [, second] = model.doGenerateCalls.length > 0 ? model.doGenerateCalls : model.doStreamCalls;
    expect(second?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(second?.prompt[1]).toMatchObject({ content: [image, { type: 'tool-call', toolCallId: 'c' }] });
  });
});
