import {
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  connect,
  constants,
  createServer,
} from 'node:http2';
import type { AddressInfo } from 'node:net';

export interface Balancer {
  /** What the engine is told: it knows one address, however many workers there are. */
  url: string;
  close(): Promise<void>;
}

/**
 * Stands here for what is in front of the workers in production, such as HAProxy, Envoy or a Service of Kubernetes: gives each request to the
 * next worker. It looks at requests, not at connections, as the engine sends hundreds of requests over one connection. A worker that does not
 * answer is passed over; what a worker was doing when it died is cut off, and the engine sends it again.
 */
export const startBalancer = async (workers: readonly string[]): Promise<Balancer> => {
  const sessions = new Map<string, ClientHttp2Session>();
  const sessionOf = (worker: string): ClientHttp2Session => {
    const known = sessions.get(worker);
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = connect(worker);
    // Each request over it hears of it by itself.
    session.on('error', () => undefined);
    sessions.set(worker, session);
    return session;
  };
  let turn = 0;

  const forward = (from: ServerHttp2Stream, headers: IncomingHttpHeaders, triesLeft: number): void => {
    const worker = workers[turn++ % workers.length] ?? '';
    const to = sessionOf(worker).request(headers, { endStream: false });
    let isReached = false;
    const reached = (): void => {
      isReached = true;
      from.pipe(to);
    };
    if (to.pending) to.once('ready', reached);
    else reached();
    to.once('response', (answer) => {
      const told = Object.entries(answer).filter(([name]) => !name.startsWith(':') || name === ':status');
      from.respond(Object.fromEntries(told));
      to.pipe(from, { end: false });
      to.once('end', () => {
        if (to.rstCode === constants.NGHTTP2_NO_ERROR) from.end();
      });
    });
    to.on('error', () => undefined);
    to.once('close', () => {
      if (!isReached && triesLeft > 1 && !from.closed) forward(from, headers, triesLeft - 1);
      // Not `close`, which ends the answer first: one that is cut off would look like one that is whole.
      else if (!isReached || to.rstCode !== constants.NGHTTP2_NO_ERROR) from.destroy(new Error(`${worker} is gone`));
    });
    from.once('close', () => to.close(from.rstCode));
  };

  const server = createServer();
  const connections = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    connections.add(session);
    session.once('close', () => connections.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    forward(stream, headers, workers.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const session of [...connections, ...sessions.values()]) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
