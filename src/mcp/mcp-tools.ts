import type { AgentError } from '../errors.ts';
import { quietly } from '../messages/quietly.ts';
import type { Tool } from '../tools/tool.ts';
import { type McpConnection, connect } from './connect.ts';
import { listTools } from './list-tools.ts';
import { type MadeTools, makeTools } from './make-tools.ts';
import { McpError } from './mcp-error.ts';
import { type McpToolsOptions, rulesOf } from './options.ts';

/** The tools of one MCP server, as it lists them now. */
export interface McpTools extends AsyncDisposable {
  /** A new array where the list changed; a tool that did not change stays the same object. */
  readonly tools: readonly Tool[];
  /** One for every listed tool that cannot be used, naming it: a schema that no model takes, two tools of one name, a task. */
  readonly errors: readonly AgentError[];
  /** The server's own name of a tool; undefined for a tool that is not in the list. */
  serverNameOf(toolName: string): string | undefined;
  /** Hears of every list that differs from the one before. Gives what ends it. What it throws or rejects with goes to `onError`. */
  onChange(listener: (tools: readonly Tool[]) => unknown): () => void;
  /** Reads the list again. Rejects with `McpError`; the tools then stay as they were. */
  refresh(): Promise<readonly Tool[]>;
  /** Listens no more, and ends the connection or the process where it is ours. A `Client` that was given stays open. */
  close(): Promise<void>;
}

const nothing: MadeTools = { made: [], errors: [] };

/**
 * The tools of an MCP server, for `createAgent({ tools })`. The connection is a `Client` of `@modelcontextprotocol/client` 2 that
 * is connected (for OAuth, sampling, elicitation, a version of the protocol), or what to connect to. Rejects with `McpError`
 * where the server cannot be reached, and with `AgentError` `invalid-option`.
 *
 * - What a server says of its tools (names, descriptions, schemas, `readOnly`, `idempotent`, `destructive`) is data from outside, and
 *   no promise. A model reads the descriptions and results. Take approval for all tools of a server that you do not trust: annotations
 *   decide what `needsApproval: 'destructive'` asks, and whether a call that a crash cut off runs again.
 * - Arguments are checked against the tool's schema here, and again by the server.
 * - A connection that is lost fails the calls under way and those to come; it is not opened again. Over a `Client` of your own on
 *   HTTP, a stream that breaks in the middle of a call is seen only by `timeout`.
 * - A `Client` of your own has one handler for `notifications/tools/list_changed`: it is ours until `close()`. On the 2026-07-28
 *   protocol a server tells of changes only where your client listens (`client.listen`).
 *
 * **When the list changes.** The tools of an agent are fixed when it is created, so that a stored session means the same tools after
 * a restart. The next turns see a new list through a new agent on the same store:
 *
 * ```ts
 * mcp.onChange(async (tools) => {
 *   await agent.close(); // or later, when its turns rest
 *   agent = createAgent({ model, store, tools });
 * });
 * ```
 *
 * Within a turn a tool of yours can bring them, for the rest of that turn:
 *
 * ```ts
 * execute: async (_, ctx) => {
 *   for (const one of await mcp.refresh()) ctx.tools.add(one);
 * };
 * ```
 */
export const mcpTools = async (connection: McpConnection, options: McpToolsOptions = {}): Promise<McpTools> => {
  const rules = rulesOf(options);
  let isClosed = false;
  const report = (error: unknown): void => {
    if (!isClosed) quietly(() => rules.onError(error));
  };
  const link = await connect(connection, report);
  const { client } = link;
  const listeners = new Set<(tools: readonly Tool[]) => unknown>();
  let list = nothing;
  let tools: readonly Tool[] = Object.freeze([]);

  const tell = (listener: (tools: readonly Tool[]) => unknown): void => quietly(() => listener(tools), report);
  const checkOpen = (): void => {
    if (isClosed) throw new McpError('mcp-closed', 'the list of tools: mcpTools() was closed');
  };
  const read = async (): Promise<readonly Tool[]> => {
    checkOpen();
    const found = await listTools(client);
    checkOpen();
    list = makeTools(client, found, rules, list.made);
    const { made } = list;
    const isSame = made.length === tools.length && made.every(({ tool }, index) => tool === tools[index]);
    if (!isSame) {
      tools = Object.freeze(made.map(({ tool }) => tool));
      for (const listener of listeners) tell(listener);
    }
    return tools;
  };

  let reading: Promise<unknown> = Promise.resolve();
  let next: Promise<readonly Tool[]> | undefined;
  const refresh = (): Promise<readonly Tool[]> => {
    // One reading at a time; one that has not begun serves all who ask.
    next ??= reading.then(() => {
      next = undefined;
      return read();
    });
    reading = next.catch(() => undefined);
    return next;
  };

  const listChanged = 'notifications/tools/list_changed';
  client.setNotificationHandler(listChanged, () => {
    refresh().catch(report);
  });
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    listeners.clear();
    client.removeNotificationHandler(listChanged);
    await link.close();
  };
  try {
    await refresh();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    get tools() {
      return tools;
    },
    get errors() {
      return list.errors;
    },
    serverNameOf: (toolName) => list.made.find(({ tool }) => tool.name === toolName)?.serverName,
    onChange: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    refresh,
    close,
    [Symbol.asyncDispose]: close,
  };
};
