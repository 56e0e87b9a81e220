import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type McpTools, mcpTools } from '../../src/mcp/index.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { tool } from '../../src/tools/tool.ts';
import { rejection } from '../support/sessions.ts';
import { call, calls } from '../support/tools.ts';
import { results } from '../support/transcript.ts';
import { runCalls } from './run-calls.ts';
import { rawServer } from './servers.ts';

const listed = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const names = ({ tools }: Pick<McpTools, 'tools'>): string[] => tools.map(({ name }) => name);
const changed = (mcp: McpTools): Promise<readonly string[]> =>
  new Promise((resolve) => {
    const stop = mcp.onChange((tools) => {
      stop();
      resolve(names({ tools }));
    });
  });

describe.concurrent('a list that changes', () => {
  test('the tools and the listener get the new list; what did not change stays the same object', async () => {
    await using mcp = await mcpTools(
      rawServer([listed('next'), listed('a'), listed('b')], [listed('next'), listed('b'), listed('c')]),
    );
    const before = mcp.tools;
    const news = changed(mcp);
    await runCalls(mcp.tools, [call('next')]);
    expect(await news).toEqual(['next', 'b', 'c']);
    expect(mcp.tools).not.toBe(before);
    expect(mcp.tools[0]).toBe(before[0]);
    expect(mcp.tools[1]).toBe(before[2]);
    const same = mcp.tools;
    expect(await mcp.refresh()).toBe(same);
  });

  test('a tool whose rules change is another tool', async () => {
    await using mcp = await mcpTools(
      rawServer(
        [listed('next'), listed('a', { annotations: { destructiveHint: true } })],
        [listed('next'), listed('a', { annotations: { destructiveHint: false } })],
      ),
      { needsApproval: 'destructive' },
    );
    const before = mcp.tools[1];
    const news = changed(mcp);
    await runCalls(
      [mcp.tools[0], mcp.tools[1]].filter((one) => one !== undefined),
      [call('next')],
      {
        approvals: { policy: () => 'approve' },
      },
    );
    await news;
    expect(before?.needsApproval).toBe(true);
    expect(mcp.tools[1]?.needsApproval).toBe(false);
  });

  test('the next turns see it through a new agent on the same store', async () => {
    await using mcp = await mcpTools(rawServer([listed('next')], [listed('next'), listed('late')]));
    const store = memoryStore();
    const news = changed(mcp);
    const first = createAgent({ model: scriptedModel([calls(call('next')), 'one']), store, tools: mcp.tools });
    const { sessionId } = await first.run('go');
    await news;
    await first.close();

    const model = scriptedModel([calls(call('late')), 'two']);
    const second = createAgent({ model, store, tools: mcp.tools });
    const result = await second.run('more', { session: sessionId });
    expect(results(result.messages)).toEqual(['ran late']);
    expect(model.requests[0]?.messages[0]).toMatchObject({ role: 'user', content: 'go' });
  });

  test('R12: within a turn a tool of the application brings it', async () => {
    await using mcp = await mcpTools(rawServer([listed('next'), listed('old')], [listed('next'), listed('late')]));
    const reload = tool({
      name: 'reload',
      inputSchema: z.object({}),
      execute: async (_, ctx) => {
        const before = names(mcp);
        const tools = await mcp.refresh();
        for (const name of before) if (!names({ tools }).includes(name)) ctx.tools.remove(name);
        for (const one of tools) ctx.tools.add(one);
      },
    });
    const model = scriptedModel([calls(call('next')), calls(call('reload')), calls(call('late')), 'done']);
    const { messages } = await createAgent({ model, tools: [...mcp.tools, reload] }).run('go');
    expect(results(messages)).toEqual(['list 1', 'Success: function completed.', 'ran late']);
    expect(model.requests.at(-1)?.tools?.map(({ name }) => name)).toContain('late');
  });

  test('after close nobody is told, the process is gone and calls fail', async () => {
    const errors: unknown[] = [];
    const mcp = await mcpTools(rawServer([listed('a')]), { onError: (error) => errors.push(error) });
    await mcp.close();
    await mcp.close();
    expect(await rejection(mcp.refresh())).toMatchObject({ code: 'mcp-closed' });
    const ran = await runCalls(mcp.tools, [call('a')]);
    expect(ran.results[0]?.error).toMatchObject({ name: 'McpError', code: 'mcp-unreachable' });
    expect(errors).toEqual([]);
  });

  test('a client that was given stays open, and its tools go on', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const { command, args = [], env = {} } = rawServer([listed('a')]);
    await client.connect(new StdioClientTransport({ command, args: [...args], env }));
    const mcp = await mcpTools(client);
    await mcp.close();
    expect((await runCalls(mcp.tools, [call('a')])).results[0]?.status).toBe('ok');
    await client.close();
  });

  test('a listener that throws or rejects, and a new list that is none, are told to onError; the tools stay', async () => {
    const errors: unknown[] = [];
    const all = Promise.withResolvers<void>();
    await using mcp = await mcpTools(rawServer([listed('next')], [listed('next'), listed('b')], 'no list'), {
      onError: (error) => {
        errors.push(error);
        if (errors.length === 3) all.resolve();
        throw new Error('nobody is left to be told');
      },
    });
    mcp.onChange(() => {
      throw new Error('mine');
    });
    // As the docstring shows it: a new agent is made, which may fail.
    mcp.onChange(() => Promise.reject(new Error('late')));
    await runCalls(mcp.tools, [call('next')]);
    await mcp.refresh();
    expect(errors).toEqual([new Error('mine'), new Error('late')]);
    await runCalls(mcp.tools, [call('next')]);
    await all.promise;
    expect(errors[2]).toMatchObject({ name: 'McpError', code: 'mcp-invalid-answer' });
    expect(names(mcp)).toEqual(['next', 'b']);
  });
});
