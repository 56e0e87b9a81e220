import type { Client } from '@modelcontextprotocol/client';
import { AgentError } from '../errors.ts';
import { connectionError } from './connection-error.ts';
import { answerLostRequests } from './http-transport.ts';
import { McpError } from './mcp-error.ts';

/** What is used of a `Client` of `@modelcontextprotocol/client`. */
export type McpClient = Pick<
  Client,
  'callTool' | 'request' | 'getServerCapabilities' | 'setNotificationHandler' | 'removeNotificationHandler'
>;

/** A server that is started as a child process and spoken to over its standard input and output. */
export interface McpProcess {
  command: string;
  args?: readonly string[];
  /** Added to a few harmless variables (`PATH`, `HOME`, …): the environment of this process is not handed on. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

/** A server that is spoken to over streamable HTTP. */
export interface McpUrl {
  url: string | URL;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
}

export type McpConnection = McpClient | McpProcess | McpUrl;

export interface Link {
  client: McpClient;
  /** Of a client that was given: nothing. It stays open. */
  close(): Promise<void>;
}

const maxShownChars = 2_000;
const clientInfo = { name: 'agentchart', version: '1' };

const missingPeer = (cause: unknown): never => {
  throw new AgentError('invalid-option', 'agentchart/mcp needs the package @modelcontextprotocol/client: install it', {
    cause,
  });
};

const startProcess = async (
  { command, args = [], env, cwd }: McpProcess,
  onError: (error: unknown) => void,
): Promise<Link> => {
  const [sdk, stdio] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('@modelcontextprotocol/client/stdio'),
  ]).catch(missingPeer);
  const transport = new stdio.StdioClientTransport({
    command,
    args: [...args],
    stderr: 'pipe',
    ...(env === undefined ? {} : { env: { ...env } }),
    ...(cwd === undefined ? {} : { cwd }),
  });
  // Read to the end, or the process would stand still; kept for the one moment when nothing else says what is wrong.
  let said = '';
  transport.stderr?.on('data', (piece: unknown) => {
    said = `${said}${String(piece)}`.slice(-maxShownChars);
  });
  const client = new sdk.Client(clientInfo);
  client.onerror = onError;
  try {
    await client.connect(transport);
  } catch (error) {
    await client.close();
    const tail = said.trim() === '' ? '' : `\nIt wrote: ${said.trim()}`;
    // Node tells of a folder that is not there as it does of a command.
    const where = cwd === undefined ? '' : ` in "${cwd}"`;
    const { message } = connectionError(`the process "${command}"${where}`, error);
    throw new McpError('mcp-unreachable', `${message}${tail}`, { cause: error });
  }
  return { client, close: () => client.close() };
};

const urlOf = (url: string | URL): URL => {
  const parsed = URL.parse(url);
  const isHttp = parsed?.protocol === 'http:' || parsed?.protocol === 'https:';
  if (parsed !== null && isHttp && parsed.username === '' && parsed.password === '') return parsed;
  throw new AgentError(
    'invalid-option',
    'mcpTools(): url must be an http: or https: URL without a name and password; credentials go into headers',
  );
};

const openUrl = async ({ url, headers }: McpUrl, onError: (error: unknown) => void): Promise<Link> => {
  const address = urlOf(url);
  const sdk = await import('@modelcontextprotocol/client').catch(missingPeer);
  const transport = new sdk.StreamableHTTPClientTransport(
    address,
    headers === undefined ? {} : { requestInit: { headers: { ...headers } } },
  );
  const client = new sdk.Client(clientInfo);
  client.onerror = onError;
  try {
    await client.connect(answerLostRequests(transport));
  } catch (error) {
    await client.close();
    // What stands behind the path may be a secret.
    throw connectionError(`${address.origin}${address.pathname}`, error);
  }
  const close = async (): Promise<void> => {
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, 1_000);
    // The server forgets the session; one that is gone, or that keeps none, cannot.
    await Promise.race([transport.terminateSession().catch(() => undefined), patience.promise]);
    clearTimeout(timer);
    await client.close();
  };
  return { client, close };
};

const isClient = (value: object): value is McpClient => 'callTool' in value && 'getProtocolEra' in value;
const isProcess = (value: object): value is McpProcess => 'command' in value && typeof value.command === 'string';
const isUrl = (value: object): value is McpUrl => 'url' in value;

const given = (client: McpClient): Link => {
  if (client.getServerCapabilities() === undefined) {
    throw new AgentError(
      'invalid-option',
      'mcpTools(): the Client is not connected: await client.connect(transport) first',
    );
  }
  return { client, close: () => Promise.resolve() };
};

/** Opens a connection, or takes the one that was opened. Throws `AgentError` `invalid-option` or `McpError` `mcp-unreachable`. */
export const connect = async (connection: McpConnection, onError: (error: unknown) => void): Promise<Link> => {
  if (typeof connection === 'object' && connection !== null) {
    if (isClient(connection)) return given(connection);
    if (isProcess(connection)) return startProcess(connection, onError);
    if (isUrl(connection)) return openUrl(connection, onError);
  }
  throw new AgentError(
    'invalid-option',
    'mcpTools() takes a connected Client of @modelcontextprotocol/client 2, { command, args?, env?, cwd? } or { url, headers? }',
  );
};
