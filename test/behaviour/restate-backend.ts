import { type RestateWorker, restateSessions, restateWorker } from '../../src/restate/index.ts';
import type { Agent } from '../../src/sessions/agent.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { startRestate } from '../support/restate-server.ts';
import type { Backend, Conversation } from './backend.ts';

/** Agents behind a real engine, in a worker of this process: tests hold its tools in their hands. The engine is the store: it stays. */
export const restateBackend = async (): Promise<Backend> => {
  const server = await startRestate();
  let started = 0;
  return {
    start: async (options) => {
      let worker: RestateWorker;
      started += 1;
      // Services are known by the agent's name: each agent has its own.
      const name = `agent-${started}`;
      const serve = async (agent: Agent, port = 0): Promise<URL> => {
        worker = restateWorker({ agents: agent });
        return new URL(await worker.listen({ port }));
      };
      const first = createAgent({ ...options, name });
      const address = await serve(first);
      await server.register(address.href);
      const sessions = restateSessions({ ingress: server.ingress, agent: first });
      return {
        open: async (id) => {
          const session = await sessions.open(id);
          const { status, pending, messages, ...rest } = session;
          const look: Conversation['look'] = async () => ({
            status: await status(),
            pending: await pending(),
            messages: await messages(),
          });
          return { ...rest, look };
        },
        restart: async (next = options) => {
          await worker.close();
          await serve(createAgent({ ...next, name }), Number(address.port));
        },
        close: () => worker.close(),
      };
    },
    close: server.close,
  };
};
