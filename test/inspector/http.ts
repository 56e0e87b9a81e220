import { type IncomingMessage, request } from 'node:http';
import { buildStalePage } from '../../scripts/build-page.ts';
import type { ProtocolEvent } from '../../src/inspector/protocol.ts';
import type { ViewState } from '../../src/inspector/view-state.ts';

/** The page as it is now, where a server that runs from the source finds it. */
export const preparePage = (): Promise<void> =>
  buildStalePage(new URL('../../dist/inspector/page', import.meta.url).pathname);

export const placeOf = (url: string): { port: number; token: string } => ({
  port: Number(new URL(url).port),
  token: new URL(url).hash.replace('#token=', ''),
});

export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** A request with exactly these headers: also those that `fetch` would not send. */
export const ask = (url: string, path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Answer> => {
  const { port } = placeOf(url);
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
};

/** A command as the page sends it. */
export const command = (url: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  ask(url, '/commands', {
    method: 'POST',
    headers: { authorization: `Bearer ${placeOf(url).token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ id: crypto.randomUUID(), ...body }),
  });

/** What the page gets first of a long log. */
export const readHead = (url: string): Promise<{ view: ViewState; lastEventId: string }> => {
  const { port, token } = placeOf(url);
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const asked = request({ host: '127.0.0.1', port, path: '/events?head', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        const [, id = '', data] = /^id: (.+)\nevent: head\ndata: (.+)\n\n/m.exec(text) ?? [];
        if (data === undefined) return;
        asked.destroy();
        resolve({ view: JSON.parse(data) as ViewState, lastEventId: id });
      });
      response.on('error', () => undefined);
    });
    asked.on('error', reject);
    asked.end();
  });
};

export interface Streamed {
  hello: { run: string; position: number | null; last: number };
  base: ViewState | undefined;
  events: ProtocolEvent[];
  lastEventId: string;
  bytes: number;
}

/** Reads the stream until `isEnough`, then lets go of it. */
export const readStream = (
  url: string,
  isEnough: (streamed: Streamed) => boolean,
  lastEventId?: string,
): Promise<Streamed> => {
  const { port, token } = placeOf(url);
  return new Promise((resolve, reject) => {
    const streamed = { events: [], base: undefined, lastEventId: '', bytes: 0 } as unknown as Streamed;
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        path: '/events',
        headers: {
          authorization: `Bearer ${token}`,
          ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
        },
      },
      (response) => {
        if (response.statusCode !== 200) return reject(new Error(`status ${response.statusCode}`));
        let rest = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          streamed.bytes += part.length;
          rest += part;
          for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
            const fields = new Map(
              rest
                .slice(0, end)
                .split('\n')
                .map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
            );
            rest = rest.slice(end + 2);
            streamed.lastEventId = fields.get('id') ?? streamed.lastEventId;
            const data = JSON.parse(fields.get('data') ?? 'null');
            if (fields.get('event') === 'hello') streamed.hello = data;
            if (fields.get('event') === 'base') streamed.base = data;
            if (fields.get('event') === 'events') streamed.events.push(...data);
            if (isEnough(streamed)) {
              asked.destroy();
              resolve(streamed);
              return;
            }
          }
        });
        response.on('error', () => undefined);
      },
    );
    asked.on('error', reject);
    asked.end();
  });
};
