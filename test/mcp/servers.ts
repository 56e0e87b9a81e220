import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { McpProcess } from '../../src/mcp/index.ts';

const root = join(import.meta.dirname, '..', '..');
const program = join(root, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');

/** The official test server over stdio. */
export const everything = { command: process.execPath, args: [program, 'stdio'] };

/** Our own: it lists, answers and breaks what the other never would. */
export const rawServer = (...lists: unknown[]): McpProcess => ({
  command: process.execPath,
  args: [join(import.meta.dirname, 'raw-server.ts')],
  env: { LISTS: JSON.stringify(lists) },
});

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};

export interface HttpServer {
  url: string;
  kill(): Promise<void>;
}

/** The official test server over streamable HTTP, in a process of its own. */
export const startHttp = async (): Promise<HttpServer> => {
  const port = await freePort();
  const child = spawn(process.execPath, [program, 'streamableHttp'], {
    env: { ...process.env, NODE_OPTIONS: '', PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (said.includes('listening on port')) resolve();
    });
    child.once('exit', () => reject(new Error(`the server ended: ${said}`)));
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  return { url: `http://127.0.0.1:${port}/mcp`, kill };
};
