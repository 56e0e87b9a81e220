import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type McpConnection, type McpTools, mcpTools } from '../../src/mcp/index.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { expectWhole, resting } from '../support/run.ts';
import { rejection } from '../support/sessions.ts';
import { call, calls } from '../support/tools.ts';
import { results } from '../support/transcript.ts';
import { firstEvent, runCalls } from './run-calls.ts';
import { type HttpServer, everything, startHttp } from './servers.ts';

const long = call('trigger-long-running-operation', { duration: 30, steps: 300 });

interface Server {
  connection: McpConnection;
  /** Ends the process, as by a crash. */
  kill(): Promise<void>;
}

/** The id of the process is known where the client is ours. */
const overStdio = async (): Promise<Server> => {
  // Of a client with roots the server adds a tool after the connection stands.
  const transport = new StdioClientTransport({ ...everything, stderr: 'ignore' });
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { roots: {} } });
  await client.connect(transport);
  const pid = transport.pid;
  return {
    connection: client,
    kill: async () => {
      if (pid !== null && transport.pid === pid) process.kill(pid, 'SIGKILL');
      await client.close();
    },
  };
};

const overHttp = async (): Promise<Server> => {
  const { url, kill }: HttpServer = await startHttp();
  return { connection: { url, headers: { 'x-test': 'yes' } }, kill };
};

describe.each([
  { over: 'stdio', start: overStdio },
  { over: 'streamable HTTP', start: overHttp },
])('server-everything over $over', ({ over, start }) => {
  let server: Server;
  let mcp: McpTools;
  let heard: Tool[];
  const find = (name: string): Tool | undefined => mcp.tools.find((tool) => tool.name === name);

  beforeAll(async () => {
    server = await start();
    mcp = await mcpTools(server.connection);
    heard = [...mcp.tools];
    mcp.onChange((tools) => heard.push(...tools));
  });
  afterAll(async () => {
    await mcp.close();
    await server.kill();
  });

  test('the tools of the server run through an agent', async () => {
    const ran = await runCalls(mcp.tools, [call('echo', { message: 'hello' }), call('get-sum', { a: 2, b: 40 })]);
    expect(ran.results).toEqual([
      { status: 'ok', output: { type: 'text', value: 'Echo: hello' } },
      { status: 'ok', output: { type: 'text', value: 'The sum of 2 and 40 is 42.' } },
    ]);
  });

  test('R15: an image is an image, an embedded resource its content, a link is told as it is', async () => {
    const ran = await runCalls(mcp.tools, [
      call('get-tiny-image'),
      call('get-resource-reference', { resourceType: 'Blob', resourceId: 1 }),
      call('get-resource-links', { count: 1 }),
    ]);
    const [image, resource, link] = ran.results.map(({ output }) => output);
    expect(image).toMatchObject({
      type: 'content',
      value: [
        { type: 'text' },
        { type: 'image-data', mediaType: 'image/png', data: expect.any(String) },
        { type: 'text' },
      ],
    });
    expect(resource).toMatchObject({
      type: 'content',
      value: [{}, { type: 'file-data', mediaType: 'text/plain' }, {}],
    });
    expect(JSON.stringify(link)).toContain('demo://resource/dynamic/blob/1');
  });

  test('a structured answer that its text repeats is JSON', async () => {
    const ran = await runCalls(mcp.tools, [call('get-structured-content', { location: 'Chicago' })]);
    expect(ran.results[0]?.output).toEqual({
      type: 'json',
      value: { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 },
    });
  });

  test('R17: arguments that do not fit the schema of the server never reach it; unknown ones that it allows do', async () => {
    const ran = await runCalls(mcp.tools, [
      call('get-sum', { a: 'two', b: 1 }),
      call('echo', {}),
      call('echo', { message: 'hi', other: true }),
    ]);
    expect(ran.results.map(({ error }) => error?.code)).toEqual(['invalid-input', 'invalid-input', undefined]);
    expect(JSON.stringify(ran.results[0]?.output)).toContain('- a: ');
    expect(ran.results[2]?.output).toEqual({ type: 'text', value: 'Echo: hi' });
  });

  test('a result that the server calls an error fails in the words of the server', async () => {
    const ran = await runCalls(mcp.tools, [call('get-resource-reference', { resourceId: -1 })]);
    expect(ran.results[0]).toMatchObject({
      status: 'failed',
      output: { type: 'error-text', value: 'Invalid resourceId: -1. Must be a finite positive integer.' },
    });
  });

  test('the hints of the server are our annotations', () => {
    expect(find('echo')?.annotations).toEqual({ readOnly: true, idempotent: true, destructive: false });
    expect(find('toggle-simulated-logging')?.annotations).toEqual({
      readOnly: false,
      idempotent: false,
      destructive: false,
    });
  });

  test('what can only be run as a task is named and left out', async () => {
    await mcp.refresh();
    expect(mcp.errors.map(({ message }) => message)).toEqual([
      'the MCP tool "simulate-research-query" cannot be used: it can be run only as a task of MCP, which is not supported',
    ]);
    expect(find('simulate-research-query')).toBeUndefined();
  });

  test.runIf(over === 'stdio')('the server adds a tool once it knows the client: the list has it', () => {
    expect(find('get-roots-list')).toBeDefined();
    expect(heard.map(({ name }) => name)).toContain('get-roots-list');
  });

  test('progress of the server is progress of the call', async () => {
    const ran = await runCalls(mcp.tools, [call('trigger-long-running-operation', { duration: 0.2, steps: 4 })]);
    const shown = ran.events.flatMap((event) => (event.type === 'tool-progress' ? [event.value] : []));
    expect(shown.slice(0, 3)).toEqual([1, 2, 3].map((progress) => ({ progress, total: 4 })));
    expect(ran.results[0]?.status).toBe('ok');
  });

  test('R35: stop ends a long call at once, and the session takes the next message', async () => {
    const model = scriptedModel([calls(long), calls(call('echo', { message: 'again' })), 'done']);
    const session = await createAgent({ model, tools: mcp.tools }).open();
    const events = session.events();
    void session.send('go');
    await firstEvent(events, 'tool-progress');
    await session.stop('enough');
    expect((await resting(session)).outcome).toMatchObject({ type: 'stopped', reason: 'enough' });
    expectWhole(session.messages);
    void session.send('more');
    expect(results((await resting(session)).messages)).toEqual(['Echo: again']);
  });

  test('R36: cancel ends one call, and its sibling goes on', async () => {
    const model = scriptedModel([
      calls(long, call('trigger-long-running-operation', { duration: 0.3, steps: 2 })),
      'done',
    ]);
    const session = await createAgent({ model, tools: mcp.tools }).open();
    const events = session.events();
    void session.send('go');
    await firstEvent(events, 'tool-progress');
    await session.cancel('call_1_0');
    expect(results((await session.settled()).messages)).toEqual([
      expect.stringContaining('the call was cancelled'),
      'Long running operation completed. Duration: 0.3 seconds, Steps: 2.',
    ]);
  });

  test('R37: a call that takes too long times out', async () => {
    const [tool] = mcp.tools.filter(({ name }) => name === long.name).map((one) => ({ ...one, timeout: 150 }));
    if (tool === undefined) throw new Error('no tool');
    const ran = await runCalls([tool], [long]);
    expect(ran.results[0]).toMatchObject({ status: 'timed-out' });
  });

  test('a server that is killed in the middle fails the call and the next ones; the turn goes on', async () => {
    const model = scriptedModel([calls(long), calls(call('echo', { message: 'anybody?' })), 'the server is gone']);
    const session = await createAgent({ model, tools: mcp.tools, detailedErrors: true }).open();
    const events = session.events();
    void session.send('go');
    await firstEvent(events, 'tool-progress');
    await server.kill();
    const result = await session.settled();
    expect(result.text).toBe('the server is gone');
    const [first, second] = results(result.messages);
    expect(first).toContain('the tool "trigger-long-running-operation": the MCP server cannot be reached: ');
    expect(second).toContain('the tool "echo": the MCP server cannot be reached: ');
    expect(await rejection(mcp.refresh())).toMatchObject({ name: 'McpError', code: 'mcp-unreachable' });
    expect(mcp.tools).not.toEqual([]);
    expectWhole(session.messages);
  });
});
