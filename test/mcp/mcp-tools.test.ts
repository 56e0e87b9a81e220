import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type McpToolInfo, mcpTools } from '../../src/mcp/index.ts';
import { toolNameOf } from '../../src/mcp/tool-names.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { rejection } from '../support/sessions.ts';
import { call, calls } from '../support/tools.ts';
import { runCalls } from './run-calls.ts';
import { freePort, rawServer } from './servers.ts';

const listed = (name: unknown, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

describe.concurrent('the list of a server', () => {
  test('what cannot be used is an error that names the tool; the others stay usable', async () => {
    await using mcp = await mcpTools(
      rawServer([
        listed('good'),
        listed('text-schema', { inputSchema: { type: 'string' } }),
        { name: 'no-schema' },
        listed(5),
        listed('any-of', { inputSchema: { anyOf: [{ type: 'object' }] } }),
        listed('hint', { annotations: { destructiveHint: 'no' } }),
        listed('', {}),
        listed('late'),
      ]),
    );
    expect(mcp.tools.map(({ name }) => name)).toEqual(['good', 'late']);
    expect(mcp.errors.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      expect.stringContaining(
        'invalid-schema: the MCP tool "text-schema" cannot be used: tool "text-schema": inputSchema',
      ),
      expect.stringContaining('invalid-schema: the MCP tool "no-schema" cannot be used: '),
      expect.stringContaining('invalid-tool: the MCP tool without a name cannot be used: '),
      expect.stringContaining('invalid-schema: the MCP tool "any-of" cannot be used: '),
      expect.stringContaining('invalid-tool: the MCP tool "hint" cannot be used: '),
      expect.stringContaining('invalid-tool: the MCP tool "" cannot be used: '),
    ]);
    expect((await runCalls(mcp.tools, [call('late')])).results[0]?.status).toBe('ok');
  });

  test('names that providers refuse are mapped, and the server hears its own', async () => {
    const long = `${'x'.repeat(100)}.y`;
    await using mcp = await mcpTools(rawServer([listed('files.read'), listed('städte/liste'), listed(long)]), {
      prefix: 'raw_',
    });
    const names = mcp.tools.map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['raw_files_read', 'raw_st_dte_liste']);
    expect(names[2]).toMatch(/^raw_x{51}_[0-9a-f]{8}$/);
    expect(names.map(mcp.serverNameOf)).toEqual(['files.read', 'städte/liste', long]);
    expect(mcp.serverNameOf('files.read')).toBeUndefined();
    const ran = await runCalls(mcp.tools, [call('raw_files_read')]);
    expect(ran.results[0]?.output).toEqual({ type: 'text', value: 'ran files.read' });
  });

  test('two tools of one name are an error each, and neither runs', async () => {
    await using mcp = await mcpTools(
      rawServer([listed('a.b'), listed('a_b'), listed('twice'), listed('twice'), listed('c')]),
    );
    expect(mcp.tools.map(({ name }) => name)).toEqual(['c']);
    expect(mcp.errors.map(({ message }) => message)).toEqual([
      'the MCP tool "a.b" cannot be used: "a_b" would be the name of "a.b" and "a_b"',
      'the MCP tool "a_b" cannot be used: "a_b" would be the name of "a.b" and "a_b"',
      'the MCP tool "twice" cannot be used: "twice" would be the name of "twice" and "twice"',
      'the MCP tool "twice" cannot be used: "twice" would be the name of "twice" and "twice"',
    ]);
  });

  test('a name is mapped the same way in every process', () => {
    expect(toolNameOf('a.b', '')).toBe('a_b');
    expect(toolNameOf('🎉', 'p-')).toBe('p-_');
    const long = 'a'.repeat(64);
    expect(toolNameOf(long, '')).toBe(long);
    expect(toolNameOf(`${long}1`, '')).not.toBe(toolNameOf(`${long}2`, ''));
    expect(toolNameOf(`${long}1`, 'p_')).toHaveLength(64);
  });
});

describe('approval', () => {
  const tools = [
    listed('read', { annotations: { readOnlyHint: true } }),
    listed('add', { annotations: { destructiveHint: false } }),
    listed('drop', { annotations: { destructiveHint: true } }),
    listed('unknown'),
    listed('liar', { annotations: { readOnlyHint: true, destructiveHint: true } }),
  ];

  const client = new Client({ name: 'test', version: '1' });
  beforeAll(async () => {
    const { command, args = [], env = {} } = rawServer(tools);
    await client.connect(new StdioClientTransport({ command, args: [...args], env: { ...env } }));
  });
  afterAll(() => client.close());

  test.each([
    { needsApproval: 'destructive' as const, asked: ['drop', 'unknown', 'liar'] },
    { needsApproval: true, asked: ['read', 'add', 'drop', 'unknown', 'liar'] },
    { needsApproval: false, asked: [] },
    { needsApproval: ({ serverName }: McpToolInfo) => serverName === 'add', asked: ['add'] },
    {
      needsApproval: ({ annotations }: McpToolInfo) => {
        if (annotations.readOnly) return false;
        throw new Error('who knows');
      },
      asked: ['add', 'drop', 'unknown'],
    },
  ])('R25: needsApproval $needsApproval', async ({ needsApproval, asked }) => {
    const mcp = await mcpTools(client, { needsApproval });
    expect(mcp.tools.filter((tool) => tool.needsApproval === true).map(({ name }) => name)).toEqual(asked);
  });

  test('R25: a destructive tool waits for a human, and runs when it is approved', async () => {
    const mcp = await mcpTools(client, { needsApproval: 'destructive' });
    const agent = createAgent({ model: scriptedModel([calls(call('drop')), 'dropped']), tools: mcp.tools });
    const waiting = await agent.run('drop it');
    expect(waiting.pending).toMatchObject([{ tool: 'drop', needs: 'approval' }]);
    const session = await agent.open(waiting.sessionId);
    await session.approve('call_1_0');
    expect((await session.settled()).text).toBe('dropped');
  });
});

describe('what is refused', () => {
  test.each([
    [{ prefix: 'with space' }, 'option "prefix" must be at most 32'],
    [{ timeout: 0 }, 'option "timeout" must be a number of ms above 0'],
    [{ needsApproval: 'sometimes' }, `option "needsApproval" must be true, false, 'destructive' or a function`],
    [{ retries: 3 }, 'has no option "retries"; known: prefix, needsApproval, timeout, onError'],
  ])('R1: %j', async (options, message) => {
    const error = await rejection(mcpTools(rawServer([]), options as object));
    expect(error).toMatchObject({ code: 'invalid-option', message: expect.stringContaining(message) });
  });

  test.each([
    { connection: {} },
    { connection: { url: 'ftp://example.org' } },
    { connection: { url: 'http://user:secret@example.org' } },
    { connection: null },
    { connection: 'node' },
  ])('R1: connection $connection', async ({ connection }) => {
    expect(await rejection(mcpTools(connection as never))).toMatchObject({ code: 'invalid-option' });
  });

  test('a client that is not connected', async () => {
    const error = await rejection(mcpTools(new Client({ name: 'test', version: '1' })));
    expect(error).toMatchObject({ code: 'invalid-option', message: expect.stringContaining('is not connected') });
  });

  test('a program that does not exist, one that ends at once, and a port where nobody listens', async () => {
    expect(await rejection(mcpTools({ command: 'no-such-program' }))).toMatchObject({
      code: 'mcp-unreachable',
      message: expect.stringMatching(/the process "no-such-program": .*ENOENT/),
    });
    // Of a folder that is not there Node says the same.
    expect(await rejection(mcpTools({ command: process.execPath, cwd: '/no/such/folder' }))).toMatchObject({
      message: expect.stringContaining(' in "/no/such/folder": '),
    });
    const dies = { command: process.execPath, args: ['-e', 'console.error("no licence"); process.exit(1)'] };
    expect(await rejection(mcpTools(dies))).toMatchObject({
      code: 'mcp-unreachable',
      message: expect.stringContaining('It wrote: no licence'),
    });
    const error = await rejection(mcpTools({ url: `http://127.0.0.1:${await freePort()}/mcp?key=secret` }));
    expect(error).toMatchObject({ code: 'mcp-unreachable', message: expect.stringContaining('ECONNREFUSED') });
    expect(error.message).not.toContain('secret');
  });

  test('the headers are sent, and a server that says no is told as it is', async () => {
    const sent: unknown[] = [];
    const server = createServer((request, response) => {
      sent.push(request.headers.authorization);
      response.writeHead(403).end('members only');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const error = await rejection(
      mcpTools({ url: `http://127.0.0.1:${port}/mcp`, headers: { authorization: 'Bearer secret' } }),
    );
    server.close();
    expect(sent).toEqual(['Bearer secret']);
    expect(error).toMatchObject({ code: 'mcp-unreachable', message: expect.stringContaining('members only') });
    expect(error.message).not.toContain('secret');
  });
});
