import type { OutsideEvent } from '../machines/agent-context.ts';
import { checkTime, historyBounds, listBounds, refusalsAfter } from './bounds.ts';
import { packTransitions, unpackTransitions } from './packed-transitions.ts';
import { SessionConflictError } from './session-conflict.ts';
import { checkSessionId } from './session-id.ts';
import { packRefusal, unpackRefusal } from './refusal.ts';
import type { Command, Commit, RefusedCommand, SessionStore, SessionSummary, StoredSession } from './store.ts';
import { unknownSession } from './unknown-session.ts';
import { Watchers } from './watchers.ts';

interface Revision {
  at: number;
  state: string;
  isWhole: boolean;
  /** Messages after it. */
  count: number;
  transitions: string;
}

interface Kept {
  summary: SessionSummary;
  /** Counts the sessions of the store: the tie-break of lists. */
  created: number;
  revisions: Revision[];
  messages: string[];
  inbox: { id: number; event: string; at: number }[];
  refusals: RefusedCommand[];
}

const readAt = (kept: Kept, at = kept.summary.revision): StoredSession | undefined => {
  const last = kept.revisions[at - 1];
  if (last === undefined) return undefined;
  const until = kept.revisions.slice(0, at);
  const start = Math.max(
    until.findLastIndex(({ isWhole }) => isWhole),
    0,
  );
  return {
    summary: { ...kept.summary },
    revision: at,
    states: until.slice(start).map(({ state }) => state),
    messages: kept.messages.slice(0, last.count),
  };
};

/**
 * Sessions of this process, each until it is deleted: for tests, scripts and short-lived servers. Nothing survives the process, so
 * `durable` is false. A session takes the memory of its JSON texts. `close` lets go of nothing: the sessions stay readable.
 */
export const memoryStore = (): SessionStore => {
  const sessions = new Map<string, Kept>();
  const watchers = new Watchers();
  let created = 0;
  let lastCommand = 0;

  const write = ({ summary, state, isWhole, messages, transitions, taken, refused }: Commit): void => {
    const { sessionId, revision, updatedAt } = summary;
    checkSessionId(sessionId);
    const known = sessions.get(sessionId);
    if (revision !== (known?.summary.revision ?? 0) + 1) throw new SessionConflictError(sessionId);
    const kept = known ?? { summary, created: ++created, revisions: [], messages: [], inbox: [], refusals: [] };
    // All that may throw comes first: a commit is taken whole or not at all.
    const added = [...messages];
    const packed = packTransitions(transitions);
    const refusals = kept.inbox.flatMap((command) => {
      const refusal = refused.find(({ id }) => id === command.id);
      return refusal === undefined ? [] : [unpackRefusal({ ...command, refused: packRefusal(refusal, updatedAt) })];
    });
    const gone = [...taken, ...refusals.map(({ id }) => id)];
    const inbox = gone.length === 0 ? kept.inbox : kept.inbox.filter(({ id }) => !gone.includes(id));
    const count = kept.messages.length + added.length;
    kept.revisions.push({ at: updatedAt, state, isWhole, count, transitions: packed });
    for (const message of added) kept.messages.push(message);
    kept.summary = { ...summary };
    kept.inbox = inbox;
    kept.refusals.push(...refusals);
    sessions.set(sessionId, kept);
  };

  return {
    durable: false,
    read: async (sessionId, options = {}) => {
      checkSessionId(sessionId);
      const kept = sessions.get(sessionId);
      return kept === undefined ? undefined : readAt(kept, options.at);
    },
    commit: async (commit) => write(commit),
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
        .filter(({ summary }) => status === undefined || summary.status === status)
        .filter(({ summary }) => agent === undefined || summary.agent === agent)
        .filter(({ summary }) => summary.updatedAt < changedBefore)
        .toSorted((a, b) => b.summary.updatedAt - a.summary.updatedAt || b.created - a.created)
        .slice(offset, offset + limit)
        .map(({ summary }) => ({ ...summary }));
    },
    delete: async (sessionId) => {
      checkSessionId(sessionId);
      return sessions.delete(sessionId);
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
    watch: (sessionId, notify) => {
      checkSessionId(sessionId);
      return watchers.add(sessionId, notify);
    },
    close: async () => undefined,
  };
};
