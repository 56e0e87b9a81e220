import { AgentError } from '../errors.ts';

export type McpErrorCode =
  /** No connection, or none any more: whether a call under way took effect is unknown. */
  | 'mcp-unreachable'
  /** The server answered with something that the protocol does not allow. */
  | 'mcp-invalid-answer'
  /** `close()` was called. */
  | 'mcp-closed';

/** What went wrong between here and an MCP server. The failure of a tool is no such error: it is the tool's result. */
export class McpError extends AgentError {
  override readonly name = 'McpError';

  constructor(code: McpErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}
