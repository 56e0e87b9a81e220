export { mcpTools } from './mcp-tools.ts';
export type { McpTools } from './mcp-tools.ts';
export type { McpClient, McpConnection, McpProcess, McpUrl } from './connect.ts';
export { McpError } from './mcp-error.ts';
export type { McpErrorCode } from './mcp-error.ts';
export type { McpToolInfo, McpToolsOptions } from './options.ts';
