import { type Http2Server, type ServerHttp2Session, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createEndpointHandler } from '@restatedev/restate-sdk/node';
import { AgentError } from '../errors.ts';
import type { Agent } from '../sessions/agent.ts';
import { partsOf } from '../sessions/agent-parts.ts';
import { createAudiences } from './audiences.ts';
import { checkOptions } from './check-options.ts';
import { effectService } from './effect-service.ts';
import { createEngineLog } from './engine-log.ts';
import { createKnownSessions } from './known-sessions.ts';
import { type LiveServer, serveLive } from './live-server.ts';
import { namesOf } from './names.ts';
import { type WorkerRecorder, describeAgent } from './worker-recorder.ts';
import { checkKey } from './session-key.ts';
import { sessionObject } from './session-object.ts';

export interface RestateWorkerOptions {
  agents: Agent | readonly Agent[];
  /** The secret of the tenant whose sessions are served here, as `restateSessions` has it; then no others are. Default: those of all. */
  key?: string;
  /** Records the sessions that have to do with this worker: `startInspector({ recorder })` shows them here, `followWorkers` those of all workers. */
  recorder?: WorkerRecorder;
  /** Public keys of engines (`publickeyv1_…`): what none of them has signed is refused. Default: whoever reaches the worker is answered. */
  identityKeys?: readonly string[];
}

export interface RestateWorker extends AsyncDisposable {
  /** Answers the engine, for a server of `node:http2` (or `node:http`) of your own. */
  readonly handler: ReturnType<typeof createEndpointHandler>;
  /** Serves on that port (default: a free one) of that host (default 127.0.0.1); gives the address to register with the engine. */
  listen(options?: { port?: number; host?: string }): Promise<string>;
  /**
   * Tells those who read along what happens here as it happens, on that port (default: a free one) of that host (default 127.0.0.1); gives the
   * address, for `live` of `restateSessions`. Whoever can reach it can read along in sessions whose ids he knows, and with `recorder` in all.
   */
  listenLive(options?: { port?: number; host?: string }): Promise<string>;
  /** Takes no more calls and ends those under way; other workers go on with them. */
  close(): Promise<void>;
}

const day = 86_400_000;

const serve = (agent: Agent, key: string | undefined, recorder: WorkerRecorder | undefined) => {
  const parts = partsOf(agent, 'restateWorker');
  if (parts.hasMiddleware) {
    throw new AgentError(
      'invalid-option',
      `restateWorker: agent "${parts.agent}" has agentMiddleware, which stands around a turn in one process; here a turn goes over many`,
    );
  }
  const names = namesOf(parts.agent);
  if (recorder !== undefined) describeAgent(recorder, agent);
  const inspect = recorder?.inspect;
  const patience = day + Math.max(0, ...agent.tools.map(({ timeout = 0 }) => timeout));
  const served = { parts, key, inspect, patience, sessions: createKnownSessions(), audiences: createAudiences() };
  return { served, services: [sessionObject(names, served), effectService(names, served)] };
};

/** Serves the sessions of agents to Restate: any number of workers may, each with the same agents. Throws `invalid-option`. */
export const restateWorker = (options: RestateWorkerOptions): RestateWorker => {
  checkOptions('restateWorker', options);
  const { agents, key, recorder, identityKeys = [] } = options;
  checkKey(key, 'restateWorker');
  const given = Array.isArray(agents) ? (agents as readonly Agent[]) : [agents as Agent];
  const all = given.map((agent) => serve(agent, key, recorder));
  const audiences = new Map(all.map(({ served }) => [served.parts.agent, served.audiences]));
  if (audiences.size === 0 || audiences.size < all.length)
    throw new AgentError(
      'invalid-option',
      'restateWorker: option "agents" must be one agent or more, each with a name of its own: names are those of services',
    );
  let isClosed = false;
  const handler = createEndpointHandler({
    services: all.flatMap(({ services }) => services),
    logger: createEngineLog(() => isClosed),
    ...(identityKeys.length === 0 ? {} : { identityKeys: [...identityKeys] }),
  });
  const servers = new Set<Http2Server>();
  const connections = new Set<ServerHttp2Session>();
  const listen: RestateWorker['listen'] = async ({ port = 0, host = '127.0.0.1' } = {}) => {
    const server = createServer(handler);
    server.on('session', (session) => {
      connections.add(session);
      session.once('close', () => connections.delete(session));
    });
    const ready = Promise.withResolvers<void>();
    server.once('error', ready.reject);
    server.listen(port, host, ready.resolve);
    await ready.promise;
    servers.add(server);
    const { port: bound } = server.address() as AddressInfo;
    return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  };
  const tellers = new Set<LiveServer>();
  const listenLive: RestateWorker['listenLive'] = async (options = {}) => {
    const teller = await serveLive(audiences, recorder?.log, options);
    tellers.add(teller);
    return teller.url;
  };
  const close = async (): Promise<void> => {
    isClosed = true;
    await Promise.all([...tellers].map((teller) => teller.close()));
    tellers.clear();
    const ends = [...servers].map((server) => new Promise((resolve) => server.close(resolve)));
    for (const connection of connections) connection.destroy();
    await Promise.all(ends);
    servers.clear();
  };
  return { handler, listen, listenLive, close, [Symbol.asyncDispose]: close };
};
