import type { SessionDocument } from './document.ts';
import type { SessionStore } from './store.ts';

/** Sessions of this process, each until it is deleted: for tests, scripts and short-lived servers. Nothing survives the process. */
export const memoryStore = (): SessionStore => {
  const texts = new Map<string, string>();
  return {
    durable: false,
    load: async (sessionId) => {
      const text = texts.get(sessionId);
      return text === undefined ? undefined : (JSON.parse(text) as SessionDocument);
    },
    save: async (document) => {
      texts.set(document.sessionId, JSON.stringify(document));
    },
    delete: async (sessionId) => {
      texts.delete(sessionId);
    },
  };
};
