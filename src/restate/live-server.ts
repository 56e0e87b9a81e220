import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Audiences, Line } from './audiences.ts';

export interface LiveServer {
  url: string;
  close(): Promise<void>;
}

/** ms between signs of life, so that whoever reads can tell a silent session from a lost worker. */
export const beat = 10_000;

/** Characters that a reader may have unread: then it is let go, and finds out by itself what it has missed. */
const longest = 4_000_000;

const partsOf = ({ url = '', method }: IncomingMessage): { agent: string; key: string } | undefined => {
  const [, agent, key, ...rest] = (url.split('?')[0] ?? '').split('/');
  if (method !== 'GET' || agent === undefined || key === undefined || rest.length > 0) return undefined;
  try {
    return { agent: decodeURIComponent(agent), key: decodeURIComponent(key) };
  } catch {
    return undefined;
  }
};

/** Serves what a worker tells of a session under `/<agent>/<key>`, a line of JSON for each thing told. */
export const serveLive = async (
  audiences: ReadonlyMap<string, Audiences>,
  { port = 0, host = '127.0.0.1' }: { port?: number; host?: string },
): Promise<LiveServer> => {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { agent = '', key = '' } = partsOf(request) ?? {};
    const audience = audiences.get(agent);
    if (audience === undefined || key === '') {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
    response.write('\n');
    const leave = audience.join(key, (line: Line) => {
      if (response.writableLength > longest) response.destroy();
      else response.write(`${JSON.stringify(line)}\n`);
    });
    const beating = setInterval(() => response.write('\n'), beat);
    response.once('close', () => {
      clearInterval(beating);
      leave();
    });
  };
  const server: Server = createServer(answer);
  const ready = Promise.withResolvers<void>();
  server.once('error', ready.reject);
  server.listen(port, host, ready.resolve);
  await ready.promise;
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
