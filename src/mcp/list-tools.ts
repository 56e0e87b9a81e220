import { isPlainObject } from '../messages/json.ts';
import type { McpClient } from './connect.ts';
import { McpError } from './mcp-error.ts';
import { connectionError } from './connection-error.ts';

const maxPages = 64;

interface Page {
  tools: unknown[];
  nextCursor?: unknown;
}

const isPage = (value: unknown): value is Page => isPlainObject(value) && Array.isArray(value['tools']);

/** Of a page only that it is one: the SDK's own check refuses the whole list where one tool is wrong. */
const anyPage = {
  '~standard': {
    version: 1 as const,
    vendor: 'agentchart',
    validate: (value: unknown) => (isPage(value) ? { value } : { issues: [{ message: 'no list of tools' }] }),
    types: undefined as { input: unknown; output: Page } | undefined,
  },
};

/** All tools that the server lists, as it gave them: nothing in them is checked. A server without tools has none. */
export const listTools = async (client: McpClient): Promise<unknown[]> => {
  const capabilities = client.getServerCapabilities();
  if (capabilities === undefined) throw connectionError('the list of tools', new Error('Not connected'));
  if (capabilities.tools === undefined) return [];
  const tools: unknown[] = [];
  let params: Record<string, unknown> = {};
  for (let page = 0; page < maxPages; page += 1) {
    const { tools: found, nextCursor } = await client
      .request({ method: 'tools/list', params }, anyPage)
      .catch((error: unknown) => {
        throw connectionError('the list of tools', error);
      });
    tools.push(...found);
    if (typeof nextCursor !== 'string' || nextCursor === '') return tools;
    params = { cursor: nextCursor };
  }
  throw new McpError('mcp-invalid-answer', `the list of tools has no end: the MCP server gave ${maxPages} pages`);
};
