// The tools of an MCP server, here the official test server. `npx node --conditions=agentchart-source examples/mcp.ts`
import { join } from 'node:path';
import { createAgent } from 'agentchart';
import { mcpTools } from 'agentchart/mcp';
import { scriptedModel } from 'agentchart/testing';
import { escapeText } from './terminal/escape-text.ts';

const packages = join(import.meta.dirname, '..', 'node_modules');
const program = join(packages, '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');

// A process of ours; `{ url, headers }` speaks HTTP, and a `Client` that you connected is taken as it is.
await using mcp = await mcpTools(
  { command: process.execPath, args: [program, 'stdio'] },
  // What a server says of its tools is a hint: here a human decides on all that is not said to be harmless.
  { prefix: 'test_', needsApproval: ({ annotations }) => !annotations.readOnly },
);

// In place of a real model, which would need a key.
const model = scriptedModel([
  {
    toolCalls: [
      { name: 'test_get-sum', input: { a: 19, b: 23 } },
      { name: 'test_trigger-long-running-operation', input: { duration: 0.5, steps: 2 } },
    ],
  },
  { toolCalls: [{ name: 'test_toggle-simulated-logging' }] },
  'The sum is 42, the long work is done, and nothing was switched on.',
]);

const session = await createAgent({ model, tools: mcp.tools }).open();
const events = session.events();
await session.send('Add 19 and 23, do the long work, then switch the logging on.');
for await (const event of events) {
  if (event.type === 'tool-progress') console.log(`${event.tool}: ${JSON.stringify(event.value)}`);
  if (event.type === 'tool-result') console.log(`${event.tool}: ${escapeText(JSON.stringify(event.result.output))}`);
  if (event.type === 'approval-request') {
    console.log(`${event.tool}: a human says no`);
    await session.reject(event.callId, { reason: 'not today' });
  }
  if (event.type === 'finish' && event.result.outcome.type === 'answered') {
    console.log(`\n${event.result.text}`);
    break;
  }
}
await session[Symbol.asyncDispose]();
