import { createServer } from 'node:http';
import { type Agent, type AgentOptions, createAgent } from '../../src/index.ts';
import {
  type RemoteSession,
  type RestateWorker,
  type RestateWorkerOptions,
  restateSessions,
  restateWorker,
} from '../../src/restate/index.ts';
import type { RestateServer } from '../support/restate-server.ts';

export interface ServedAgent extends AsyncDisposable {
  agent: Agent;
  worker: RestateWorker;
  uri: string;
  port: number;
  open(id?: string): Promise<RemoteSession>;
}

let count = 0;

/** A fresh agent behind the engine, with one worker of this process. */
export const serveAgent = async (
  server: RestateServer,
  options: AgentOptions,
  about: Omit<RestateWorkerOptions, 'agents'> & { port?: number } = {},
): Promise<ServedAgent> => {
  count += 1;
  const { port, ...rest } = about;
  const agent = createAgent({ name: `agent-${count}`, ...options });
  const worker = restateWorker({ agents: agent, ...rest });
  const uri = await worker.listen(port === undefined ? {} : { port });
  await server.register(uri);
  const sessions = restateSessions({
    ingress: server.ingress,
    agent,
    ...(rest.key === undefined ? {} : { key: rest.key }),
  });
  return {
    agent,
    worker,
    uri,
    port: Number(new URL(uri).port),
    open: (id) => sessions.open(id),
    [Symbol.asyncDispose]: () => worker.close(),
  };
};

/** Nothing that is listening any more. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
};
