import { errorData } from '../errors.ts';
import { McpError } from './mcp-error.ts';

/** By which a request learns that the stream of its answer ended without one; the SDK leaves it open. */
export const lostAnswer = { code: -32_098, message: 'the stream of the answer ended without it' };

/** The codes of the SDK for an answer that came and cannot be used. */
const invalid = new Set(['INVALID_RESULT', 'UNSUPPORTED_RESULT_TYPE', 'CLIENT_HTTP_UNEXPECTED_CONTENT']);

/** A JSON-RPC error: the server heard the request and said no. */
export const isRefusal = (error: unknown): error is Error & { code: number } =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' && error.code !== lostAnswer.code;

const wordsOf = (error: unknown): string => {
  const { message, cause } = errorData(error);
  return cause === undefined || cause.message === '' ? message : `${message}: ${cause.message}`;
};

/** What came in the way of a request, with what was asked for. */
export const connectionError = (asked: string, error: unknown): McpError => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isInvalid = (typeof code === 'string' && invalid.has(code)) || isRefusal(error);
  return isInvalid
    ? new McpError('mcp-invalid-answer', `${asked}: the MCP server gave no valid answer: ${wordsOf(error)}`, {
        cause: error,
      })
    : new McpError('mcp-unreachable', `${asked}: the MCP server cannot be reached: ${wordsOf(error)}`, {
        cause: error,
      });
};
