import { randomBytes } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { isIPv6 } from 'node:net';
import { AgentError, errorData } from '../../errors.ts';
import { isPlainObject } from '../../messages/json.ts';
import { type Command, readCommand } from '../command.ts';
import type { EventLog } from '../event-log.ts';
import type { HistorySource } from '../history-source.ts';
import { packEvents } from '../packed-events.ts';
import { type StreamFacts, streamEvents } from './event-stream.ts';
import {
  type Door,
  type Refusal,
  cookieName,
  isToken,
  isRefusal,
  refuseStranger,
  refuseUnknown,
} from './guard-request.ts';
import { createLogHead } from './log-head.ts';
import { logSlice } from './log-slice.ts';
import { readPageFiles } from './page-files.ts';
import { readBody } from './read-body.ts';
import type { Done } from './run-command.ts';
import { watchStore } from './store-watch.ts';

export interface ServeOptions {
  host: string;
  port: number;
  log: EventLog;
  facts: StreamFacts;
  history?: HistorySource | undefined;
  /** Absent: nothing can be decided here. */
  run?: ((command: Command) => Promise<Refusal | Done>) | undefined;
}

export interface Served {
  /** With the token, in the fragment: it stands in no log. */
  url: string;
  close(): Promise<void>;
}

const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** How many ports after a taken one are tried. */
const portTries = 20;

const listen = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    let tried = port;
    server.on('error', (error: NodeJS.ErrnoException) => {
      const mayMove = error.code === 'EADDRINUSE' && port !== 0 && tried < Math.min(port + portTries, 65_535);
      if (!mayMove) {
        reject(
          new AgentError('invalid-option', `the inspector cannot listen on ${host}:${tried}: ${error.message}`, {
            cause: error,
          }),
        );
        return;
      }
      tried += 1;
      server.listen(tried, host);
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : tried);
    });
  });

const isUnfit = (error: unknown): boolean => error instanceof AgentError && error.code === 'invalid-option';

export const serve = async ({ host, port, log, facts, history, run }: ServeOptions): Promise<Served> => {
  const files = await readPageFiles();
  const door: Door = { host, port: 0, token: randomBytes(18).toString('base64url') };
  const streams = new Set<() => Promise<void>>();
  const head = createLogHead(log);
  const stored = history === undefined ? undefined : watchStore(history);

  const answer = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify(body));
  };
  const refuse = (response: ServerResponse, { status, message }: Refusal): void => {
    // What is still coming of a body that is too large is not read.
    if (status === 413) response.setHeader('connection', 'close');
    answer(response, status, { error: message });
  };

  const get = async (
    path: string,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const file = files.get(path);
    if (file !== undefined) {
      response.writeHead(200, { 'content-type': file.type });
      response.end(file.body);
      return;
    }
    const refusal = refuseUnknown(request, door);
    if (refusal !== undefined) return refuse(response, refusal);
    if (path === '/events') {
      const lastEventId = request.headers['last-event-id'];
      const stop = streamEvents(log, response, {
        facts,
        head: query.has('head') ? head : undefined,
        stored,
        lastEventId: Array.isArray(lastEventId) ? lastEventId[0] : lastEventId,
      });
      streams.add(stop);
      response.on('close', () => streams.delete(stop));
      return;
    }
    if (path === '/log') {
      const after = Number(query.get('after'));
      if (query.get('run') !== log.run || !Number.isSafeInteger(after) || after < 0)
        return refuse(response, { status: 409, message: 'this is another log' });
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      response.end(logSlice(log, after));
      return;
    }
    if (path === '/stored') {
      const offset = Number(query.get('offset') ?? 0);
      if (!Number.isSafeInteger(offset) || offset < 0)
        return refuse(response, { status: 400, message: 'offset must be a whole number' });
      return answer(response, 200, { sessions: (await history?.list({ offset })) ?? [] });
    }
    if (path === '/stored-session') {
      const found = await history?.history(query.get('id') ?? '');
      if (found === undefined) return refuse(response, { status: 404, message: 'there is no such session' });
      const asked = query.get('run') === found.run ? Number(query.get('after')) : 0;
      const after = Number.isSafeInteger(asked) ? Math.max(0, asked) : 0;
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      response.end(`{"run":"${found.run}","packed":${packEvents(after, found.events.slice(after))}}`);
      return;
    }
    refuse(response, { status: 404, message: 'there is nothing here' });
  };

  const post = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (path !== '/login') {
      const refusal = refuseUnknown(request, door);
      if (refusal !== undefined) return refuse(response, refusal);
    }
    const read = await readBody(request);
    if (!('body' in read)) return refuse(response, read);
    const { body } = read;
    if (path === '/login') {
      if (!isPlainObject(body) || !isToken(body['token'], door))
        return refuse(response, { status: 401, message: 'the key is of another start of the inspector' });
      response.setHeader('set-cookie', `${cookieName(door)}=${door.token}; Path=/; HttpOnly; SameSite=Strict`);
      return answer(response, 200, {});
    }
    if (path !== '/commands') return refuse(response, { status: 404, message: 'there is nothing here' });
    if (run === undefined) return refuse(response, { status: 409, message: 'a recording takes no decisions' });
    const command = readCommand(body);
    if (typeof command === 'string') return refuse(response, { status: 400, message: command });
    const done = await run(command);
    if (isRefusal(done)) refuse(response, done);
    else answer(response, 200, done);
  };

  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const refusal = refuseStranger(request, door);
    if (refusal !== undefined) return refuse(response, refusal);
    const [path = '/', query] = (request.url ?? '/').split('?');
    const work =
      request.method === 'GET'
        ? get(path, new URLSearchParams(query), request, response)
        : request.method === 'POST'
          ? post(path, request, response)
          : Promise.resolve(refuse(response, { status: 405, message: 'GET and POST only' }));
    work.catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      // A store knows best what may be the id of a session.
      else refuse(response, { status: isUnfit(error) ? 400 : 500, message: errorData(error).message });
    });
  });
  door.port = await listen(server, host, port);
  server.on('error', () => undefined);

  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${door.port}/#token=${door.token}`,
    close: async () => {
      await Promise.all([...streams].map((stop) => stop()));
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
};
