import { createAgent } from '../../src/sessions/create-agent.ts';
import type { AgentOptions } from '../../src/sessions/agent-options.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { type Backend, conversationOf } from './backend.ts';

const never = new Promise<never>(() => undefined);

/** The store of a process that can die: from then on nothing that it began gets an answer, and nothing else reaches the store. */
const mortal = (store: SessionStore): { store: SessionStore; die(): void; idle(): Promise<unknown> } => {
  let isDead = false;
  const underWay = new Set<Promise<unknown>>();
  const living =
    <Given extends unknown[], T>(work: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      if (isDead) return never;
      const doing = work(...given);
      underWay.add(doing);
      try {
        return await doing;
      } finally {
        underWay.delete(doing);
        if (isDead) await never;
      }
    };
  return {
    die: () => {
      isDead = true;
    },
    idle: () => Promise.allSettled(underWay),
    store: {
      durable: store.durable,
      read: living((...given) => store.read(...given)),
      commit: living((...given) => store.commit(...given)),
      history: living((...given) => store.history(...given)),
      list: living((...given) => store.list(...given)),
      delete: living((...given) => store.delete(...given)),
      deleteBefore: living((...given) => store.deleteBefore(...given)),
      post: living((...given) => store.post(...given)),
      inbox: living((...given) => store.inbox(...given)),
      refusals: living((...given) => store.refusals(...given)),
      close: async () => undefined,
    },
  };
};

/**
 * Agents of this process over a durable store; `open` gives it anew over the same data. One is kept open over all tests, for the sake of
 * speed; a restart takes another one.
 */
export const storeBackend = (open: () => SessionStore, end: () => Promise<void>): Backend => {
  let store = open();
  return {
    start: async (options) => {
      const begin = (given: AgentOptions) => {
        const life = mortal(store);
        return { life, agent: createAgent({ ...given, store: life.store }) };
      };
      let { life, agent } = begin(options);
      return {
        open: async (id) => conversationOf(await agent.open(id)),
        restart: async (next = options) => {
          life.die();
          await life.idle();
          await store.close();
          store = open();
          ({ life, agent } = begin(next));
        },
        close: () => agent.close(),
      };
    },
    close: async () => {
      await store.close();
      await end();
    },
  };
};
