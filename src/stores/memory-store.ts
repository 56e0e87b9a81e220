import type { OutsideEvent } from '../machines/agent-context.ts';
import { checkTime, historyBounds, listBounds, refusalsAfter } from './bounds.ts';
import { type Kept, keepInMemory } from './keep-in-memory.ts';
import { unpackTransitions } from './packed-transitions.ts';
import { checkSessionId } from './session-id.ts';
import type { Command, SessionStore } from './store.ts';
import { unknownSession } from './unknown-session.ts';
import { Watchers } from './watchers.ts';

/**
 * Sessions of this process, each until it is deleted: for tests, scripts and short-lived servers. Nothing survives the process, so
 * `durable` is false. A session takes the memory of its JSON texts. `close` lets go of nothing: the sessions stay readable.
 */
export const memoryStore = (): SessionStore => {
  const sessions = new Map<string, Kept>();
  const watchers = new Watchers();
  let lastCommand = 0;

  return {
    ...keepInMemory(sessions),
    history: async (sessionId, options) => {
      checkSessionId(sessionId);
      const { after, limit } = historyBounds(options);
      const revisions = sessions.get(sessionId)?.revisions ?? [];
      return revisions
        .map((revision, index) => ({ ...revision, number: index + 1 }))
        .filter(({ number, transitions }) => number > after && transitions !== '')
        .slice(0, limit)
        .flatMap(({ transitions, number, at }) => unpackTransitions(transitions, number, at));
    },
    list: async (options = {}) => {
      const { limit, offset } = listBounds(options);
      const { status, agent, changedBefore = Infinity } = options;
      return [...sessions.values()]
        .map((kept, created) => ({ ...kept, created }))
        .filter(({ summary }) => status === undefined || summary.status === status)
        .filter(({ summary }) => agent === undefined || summary.agent === agent)
        .filter(({ summary }) => summary.updatedAt < changedBefore)
        .toSorted((a, b) => b.summary.updatedAt - a.summary.updatedAt || b.created - a.created)
        .slice(offset, offset + limit)
        .map(({ summary }) => ({ ...summary }));
    },
    deleteBefore: async (time) => {
      checkTime(time);
      const old = [...sessions].filter(([, { summary }]) => summary.updatedAt < time);
      for (const [sessionId] of old) sessions.delete(sessionId);
      return old.length;
    },
    post: async (sessionId, event) => {
      checkSessionId(sessionId);
      const kept = sessions.get(sessionId);
      if (kept === undefined) throw unknownSession(sessionId);
      const text = JSON.stringify(event ?? null);
      kept.inbox.push({ id: ++lastCommand, event: text, at: Date.now() });
      watchers.tell(sessionId);
      return lastCommand;
    },
    inbox: async (sessionId) => {
      checkSessionId(sessionId);
      const waiting = sessions.get(sessionId)?.inbox ?? [];
      return waiting.map(({ id, event, at }): Command => ({ id, event: JSON.parse(event) as OutsideEvent, at }));
    },
    refusals: async (sessionId, options) => {
      checkSessionId(sessionId);
      const after = refusalsAfter(options);
      const kept = sessions.get(sessionId)?.refusals ?? [];
      return structuredClone(kept.filter(({ id }) => id > after).toSorted((a, b) => a.id - b.id));
    },
    lastCommand: async () => lastCommand,
    watch: (sessionId, notify) => {
      checkSessionId(sessionId);
      return watchers.add(sessionId, notify);
    },
    close: async () => undefined,
  };
};
