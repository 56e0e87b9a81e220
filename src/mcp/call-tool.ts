import type { Tool as Definition } from '@modelcontextprotocol/client';
import type { ToolContext } from '../tools/tool.ts';
import { callResult } from './call-result.ts';
import type { McpClient } from './connect.ts';
import { connectionError, isRefusal } from './connection-error.ts';

/** The timeout is our tool's: the SDK's own must not come before it. */
const longest = 2_147_483_647;

/**
 * Runs a server's tool for one call. The signal of the call cancels the request, and the server is told. A result that the server
 * calls an error, and its refusal of the request, fail in the server's words; what is wrong with the connection is thrown.
 */
export const callTool = async (
  client: McpClient,
  definition: Definition,
  input: Record<string, unknown>,
  { signal, progress }: ToolContext,
): Promise<unknown> => {
  try {
    const result = await client.callTool(
      { name: definition.name, arguments: input },
      {
        signal,
        timeout: longest,
        onprogress: progress,
        // The result is checked against the list that this tool was made from.
        toolDefinition: definition,
      },
    );
    return callResult(result);
  } catch (error) {
    signal.throwIfAborted();
    if (isRefusal(error)) return callResult({ content: [{ type: 'text', text: error.message }], isError: true });
    throw connectionError(`the tool "${definition.name}"`, error);
  }
};
