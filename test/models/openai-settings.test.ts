import { describe, expect, test } from 'vitest';
import { delta, sse, startReplayServer } from '../support/replay-server.ts';
import { ask, askStreamed, thrownBy } from './ask.ts';
import { f, round, sent } from './sent.ts';

describe('tools and settings', () => {
  test('B53, R14: no tools, no key; and none of what needs tools', async () => {
    for (const tools of [{}, { tools: [] }]) {
      const body = await sent({ ...tools, toolChoice: 'required', settings: { parallelToolCalls: false } });
      expect(Object.keys(body).toSorted()).toEqual(['messages', 'model']);
    }
  });

  test('B55: parallel_tool_calls only when set', async () => {
    expect(await sent({ tools: [f] })).not.toHaveProperty('parallel_tool_calls');
    expect(await sent({ tools: [f], settings: { parallelToolCalls: false } })).toMatchObject({
      parallel_tool_calls: false,
    });
  });

  test('B55: a server that does not know the key: its 400 comes out unchanged, after one request', async () => {
    const error = { message: 'Unsupported parameter: parallel_tool_calls', code: 'unsupported_parameter' };
    await using server = await startReplayServer([{ status: 400, json: { error } }]);
    expect(await thrownBy(ask(server, { tools: [f], settings: { parallelToolCalls: true } }))).toMatchObject({
      message: error.message,
      status: 400,
      transient: false,
      providerCode: 'unsupported_parameter',
    });
    expect(server.requests).toHaveLength(1);
  });

  test('tools and the choice of one', async () => {
    expect(await sent({ tools: [f], toolChoice: { tool: 'f' } })).toMatchObject({
      tools: [{ type: 'function', function: { name: 'f', description: 'does f', parameters: f.inputSchema } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
    });
    expect(await sent({ tools: [f], toolChoice: 'none' })).toMatchObject({ tool_choice: 'none' });
    expect(await sent({ tools: [f] })).not.toHaveProperty('tool_choice');
  });

  test('settings are mapped; provider options go into the body and win', async () => {
    const settings = {
      temperature: 0,
      topP: 0.5,
      maxOutputTokens: 10,
      seed: 1,
      stopSequences: ['x'],
      providerOptions: { seed: 2, reasoning_effort: 'low' },
    };
    const common = { temperature: 0, top_p: 0.5, seed: 2, stop: ['x'], reasoning_effort: 'low' };
    expect(await sent({ settings })).toMatchObject({ ...common, max_tokens: 10 });
    const body = await sent({ settings }, { maxTokensField: 'max_completion_tokens' });
    expect(body).toMatchObject({ ...common, max_completion_tokens: 10 });
    expect(body).not.toHaveProperty('max_tokens');
  });

  test('output becomes a response format', async () => {
    const output = { name: 'weather', schema: { type: 'object', properties: { t: { type: 'number' } } } };
    expect(await sent({ output })).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'weather', schema: output.schema } },
    });
  });

  test('a stream asks for its usage, where not switched off', async () => {
    await using server = await startReplayServer([{ body: sse(delta({ content: 'hi' }, 'stop')) }]);
    await askStreamed(server);
    await askStreamed(server, {}, { streamUsage: false });
    expect(server.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(server.requests[1]?.body).not.toHaveProperty('stream_options');
  });

  test('R2: the request is not changed', async () => {
    const messages = round('{"a":');
    const before = JSON.stringify(messages);
    await sent({ messages, tools: [f], instructions: 'S' }, { mergeConsecutive: true, strict: true });
    expect(JSON.stringify(messages)).toBe(before);
  });
});
