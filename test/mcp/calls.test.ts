import { describe, expect, test } from 'vitest';
import { type McpTools, mcpTools } from '../../src/mcp/index.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { manualClock } from '../support/manual-clock.ts';
import { call, calls } from '../support/tools.ts';
import { results } from '../support/transcript.ts';
import { firstEvent, runCalls } from './run-calls.ts';
import { rawServer } from './servers.ts';

const listed = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const open = (...tools: object[]): Promise<McpTools> => mcpTools(rawServer(tools));
const weather = { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] };

describe.concurrent('what a server answers', () => {
  test('R15: content, structured content, both, and nothing', async () => {
    await using mcp = await open(
      listed('structured'),
      listed('both', { outputSchema: weather }),
      listed('empty'),
      listed('audio'),
    );
    const ran = await runCalls(mcp.tools, [call('structured'), call('both'), call('empty'), call('audio')]);
    expect(ran.results.map(({ output }) => output)).toEqual([
      // An object that looks like a content part stays the object that it is.
      { type: 'json', value: { type: 'text', text: 'a field' } },
      { type: 'text', value: '21 degrees' },
      { type: 'text', value: 'Success: function completed.' },
      { type: 'content', value: [{ type: 'file-data', data: 'UklGRg==', mediaType: 'audio/wav' }] },
    ]);
  });

  test('a refusal of the request fails in the words of the server; an error without words has ours', async () => {
    await using mcp = await open(listed('refuse'), listed('silent'));
    const ran = await runCalls(mcp.tools, [call('refuse'), call('silent')]);
    expect(ran.results).toMatchObject([
      { status: 'failed', output: { type: 'error-text', value: expect.stringContaining('no such city: Atlantis') } },
      { status: 'failed', output: { type: 'error-text', value: 'Error: the tool failed.' } },
    ]);
  });

  test('R16: an answer that the protocol does not have is an error; the model reads no details of it', async () => {
    await using mcp = await open(listed('strange'));
    const [strange] = (await runCalls(mcp.tools, [call('strange')])).results;
    expect(strange).toMatchObject({
      status: 'failed',
      output: { type: 'error-text', value: 'Error: the tool failed.' },
    });
    expect(strange?.error).toMatchObject({ name: 'McpError', code: 'mcp-invalid-answer' });
    expect(strange?.error?.message).toContain('the tool "strange": the MCP server gave no valid answer');
  });

  test('a structured answer that does not fit the schema of the server fails', async () => {
    await using mcp = await open(listed('wrong', { outputSchema: weather }));
    const [wrong] = (await runCalls(mcp.tools, [call('wrong')])).results;
    expect(wrong?.status).toBe('failed');
    expect(JSON.stringify(wrong?.output)).toContain('output schema');
  });

  test('a server that ends in the middle of a call fails it', async () => {
    await using mcp = await open(listed('exit'), listed('a'));
    const ran = await runCalls(mcp.tools, [call('exit')]);
    expect(ran.results[0]).toMatchObject({ status: 'failed', error: { code: 'mcp-unreachable' } });
    expect((await runCalls(mcp.tools, [call('a')])).results[0]?.error?.message).toContain('Not connected');
  });
});

describe('what a server is told', () => {
  test('R35, R36, R37: stop, cancel and timeout reach it as notifications/cancelled', async () => {
    await using mcp = await mcpTools(rawServer([listed('hang'), listed('cancelled')]), { timeout: 800 });
    const answers = [calls(call('hang')), calls(call('hang')), 'cancelled', calls(call('hang')), 'timed out'];
    const clock = manualClock();
    const session = await createAgent({ model: scriptedModel(answers), tools: mcp.tools, clock }).open();
    const events = session.events();

    void session.send('stop this');
    await firstEvent(events, 'tool-progress');
    await session.stop();
    await session.settled();

    const more = session.events();
    void session.send('cancel this');
    await firstEvent(more, 'tool-progress');
    await session.cancel('call_2_0');
    expect((await session.settled()).text).toBe('cancelled');

    const waiting = session.events();
    void session.send('wait for this');
    await firstEvent(waiting, 'tool-progress');
    clock.advance(800);
    const last = await session.settled();
    expect(results(last.messages)).toEqual(['Error: the tool timed out after 800 ms.']);

    const told = (await runCalls(mcp.tools, [call('cancelled')])).results[0]?.output;
    expect(JSON.parse(String(told?.type === 'text' && told.value))).toHaveLength(3);
  });
});
