import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Audiences, Line } from './audiences.ts';
import type { RecordedLog } from './worker-recorder.ts';

export interface LiveServer {
  url: string;
  close(): Promise<void>;
}

/** ms between signs of life, so that whoever reads can tell a silent session from a lost worker. */
export const beat = 10_000;

/** Characters that a reader may have unread: then it is let go, and finds out by itself what it has missed. */
const longest = 4_000_000;

const partsOf = ({ url = '', method }: IncomingMessage): { agent: string; key?: string } | undefined => {
  const [, agent = '', key, ...rest] = (url.split('?')[0] ?? '').split('/');
  if (method !== 'GET' || rest.length > 0) return undefined;
  try {
    return { agent: decodeURIComponent(agent), ...(key === undefined ? {} : { key: decodeURIComponent(key) }) };
  } catch {
    return undefined;
  }
};

/** Recorded events that are sent at a time. */
const batch = 500;

/** Sends what was recorded after an event of a log, and goes on as more is; gives what ends it. */
const sendLog = (log: RecordedLog, { url = '' }: IncomingMessage, send: (text: string) => void): (() => void) => {
  const { searchParams } = new URL(url, 'http://worker');
  let last = searchParams.get('run') === log.run ? Number(searchParams.get('after')) : 0;
  send(`${JSON.stringify({ type: 'hello', run: log.run })}\n`);
  const sendNew = (): void => {
    for (;;) {
      const lines = log.lines(last, batch);
      const newest = lines.at(-1);
      if (newest === undefined) return;
      last = (JSON.parse(newest) as { seq: number }).seq;
      send(`${lines.join('\n')}\n`);
    }
  };
  sendNew();
  return log.subscribe(sendNew);
};

/**
 * Serves what a worker tells of a session under `/<agent>/<key>`, a line of JSON for each thing told, and under `/` what its recorder
 * records.
 */
export const serveLive = async (
  audiences: ReadonlyMap<string, Audiences>,
  log: RecordedLog | undefined,
  { port = 0, host = '127.0.0.1' }: { port?: number; host?: string },
): Promise<LiveServer> => {
  const joinOf = (request: IncomingMessage): ((send: (text: string) => void) => () => void) | undefined => {
    const { agent, key } = partsOf(request) ?? {};
    if (agent === '' && key === undefined) return log === undefined ? undefined : (send) => sendLog(log, request, send);
    const audience = audiences.get(agent ?? '');
    if (audience === undefined || key === undefined || key === '') return undefined;
    return (send) => audience.join(key, (line: Line) => send(`${JSON.stringify(line)}\n`));
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const join = joinOf(request);
    if (join === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
    response.write('\n');
    const leave = join((text) => {
      if (response.writableLength > longest) response.destroy();
      else response.write(text);
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
