import { expect, test } from 'vitest';
import { z } from 'zod';
import { aiSdkModel } from '../../src/ai-sdk/index.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { tool } from '../../src/tools/tool.ts';
import { inBothModes } from '../support/run.ts';
import { call, mockModel, whole } from './mock.ts';

const read = tool({ name: 'read', inputSchema: z.object({ a: z.number() }), execute: ({ a }) => ({ twice: a * 2 }) });

inBothModes('an agent on a model of the AI SDK', (run) => {
  test('two parallel calls go back under the ids of the provider, with the signature of the thought (R8, R44)', async () => {
    const model = mockModel(
      whole([
        { type: 'reasoning', text: 'both', providerMetadata: { anthropic: { signature: 'sig' } } },
        { ...call('p1', 'read', { a: 1 }), providerMetadata: { google: { thoughtSignature: 't' } } },
        call('p2', 'read', { a: 2 }),
      ]),
      whole([{ type: 'text', text: 'done' }]),
    );
    const { result } = await run(createAgent({ model: aiSdkModel(model), tools: [read] }), 'go');
    expect(result).toMatchObject({
      text: 'done',
      usage: { inputTokens: 20, cachedInputTokens: 6, reasoningTokens: 4 },
    });
    const [, second] = [...model.doGenerateCalls, ...model.doStreamCalls];
    expect(second?.prompt.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'both', providerOptions: { anthropic: { signature: 'sig' } } },
          { toolCallId: 'p1', input: { a: 1 }, providerOptions: { google: { thoughtSignature: 't' } } },
          { toolCallId: 'p2', input: { a: 2 } },
        ],
      },
      {
        role: 'tool',
        content: [
          { toolCallId: 'p1', toolName: 'read', output: { type: 'json', value: { twice: 2 } } },
          { toolCallId: 'p2', toolName: 'read', output: { type: 'json', value: { twice: 4 } } },
        ],
      },
    ]);
    // Our own notes on the calls are for no provider.
    expect(JSON.stringify(second?.prompt)).not.toContain('agentchart');
  });

  test('R9: a call that the provider ran is kept and not run', async () => {
    const model = mockModel(
      whole([
        { ...call('s1', 'search', { q: 1 }), providerExecuted: true },
        { type: 'tool-result', toolCallId: 's1', toolName: 'search', result: { hits: 1 } },
        { type: 'text', text: 'one hit' },
      ]),
      whole([{ type: 'text', text: 'bye' }]),
    );
    const agent = createAgent({ model: aiSdkModel(model) });
    const { result, session } = await run(agent, 'go');
    expect(result).toMatchObject({ text: 'one hit', iterations: 0 });
    await run(agent, 'and now', { session });
    const [, second] = [...model.doGenerateCalls, ...model.doStreamCalls];
    expect(second?.prompt[1]?.content).toMatchObject([
      { type: 'tool-call', toolCallId: 's1', providerExecuted: true },
      { type: 'tool-result', toolCallId: 's1', output: { type: 'json', value: { hits: 1 } } },
      { type: 'text', text: 'one hit' },
    ]);
  });

  test('a structured answer is asked for by its schema', async () => {
    const model = mockModel(whole([{ type: 'text', text: '{"city":"Bern"}' }]));
    const agent = createAgent({ model: aiSdkModel(model), output: z.object({ city: z.string() }) });
    const { result } = await run(agent, 'where?');
    expect(result.output).toEqual({ city: 'Bern' });
    const [asked] = [...model.doGenerateCalls, ...model.doStreamCalls];
    expect(asked?.responseFormat).toMatchObject({ type: 'json', schema: { properties: { city: { type: 'string' } } } });
  });

  test('R42: a refusal is an outcome of its own', async () => {
    const reply = whole([], { finishReason: { unified: 'content-filter', raw: 'refusal' } });
    const { result } = await run(createAgent({ model: aiSdkModel(mockModel(reply)) }), 'go');
    expect(result.outcome).toEqual({ type: 'refused', reason: 'the model declined to answer' });
  });
});
