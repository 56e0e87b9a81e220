import { packTransitions } from './packed-transitions.ts';
import { packRefusal, unpackRefusal } from './refusal.ts';
import { SessionConflictError } from './session-conflict.ts';
import { checkSessionId } from './session-id.ts';
import type { Commit, RefusedCommand, SessionKeeper, SessionSummary, StoredSession } from './store.ts';

export interface Revision {
  at: number;
  state: string;
  isWhole: boolean;
  /** Messages after it. */
  count: number;
  transitions: string;
}

export interface Kept {
  summary: SessionSummary;
  revisions: Revision[];
  messages: string[];
  inbox: { id: number; event: string; at: number }[];
  refusals: RefusedCommand[];
}

const readAt = (kept: Kept, at = kept.summary.revision): StoredSession | undefined => {
  const last = Number.isInteger(at) ? kept.revisions[at - 1] : undefined;
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

/** Takes a commit into the sessions that are kept; throws `SessionConflictError`, and changes nothing then. */
const write = (sessions: Map<string, Kept>, commit: Commit): void => {
  const { summary, state, isWhole, messages, transitions, taken, refused } = commit;
  const { sessionId, revision, createdAt, updatedAt } = summary;
  checkSessionId(sessionId);
  const known = sessions.get(sessionId);
  const before = known?.summary ?? { revision: 0, createdAt };
  if (revision !== before.revision + 1 || createdAt !== before.createdAt) throw new SessionConflictError(sessionId);
  const kept = known ?? { summary, revisions: [], messages: [], inbox: [], refusals: [] };
  // All that may throw comes first: a commit is taken whole or not at all.
  const added = [...messages];
  const packed = packTransitions(transitions);
  const reasons = new Map(refused.map((refusal) => [refusal.id, refusal]));
  const refusals = kept.inbox.flatMap((command) => {
    const refusal = reasons.get(command.id);
    return refusal === undefined ? [] : [unpackRefusal({ ...command, refused: packRefusal(refusal, updatedAt) })];
  });
  const gone = new Set([...taken, ...refusals.map(({ id }) => id)]);
  const inbox = gone.size === 0 ? kept.inbox : kept.inbox.filter(({ id }) => !gone.has(id));
  const count = kept.messages.length + added.length;
  kept.revisions.push({ at: updatedAt, state, isWhole, count, transitions: packed });
  for (const message of added) kept.messages.push(message);
  kept.summary = { ...summary };
  kept.inbox = inbox;
  kept.refusals.push(...refusals);
  sessions.set(sessionId, kept);
};

/** Keeps sessions in a map: all that an agent needs of a store to which nobody else has access. */
export const keepInMemory = (sessions: Map<string, Kept>): SessionKeeper & { durable: false } => ({
  durable: false,
  read: async (sessionId, options = {}) => {
    checkSessionId(sessionId);
    const kept = sessions.get(sessionId);
    return kept === undefined ? undefined : readAt(kept, options.at);
  },
  commit: async (commit) => write(sessions, commit),
  delete: async (sessionId) => {
    checkSessionId(sessionId);
    return sessions.delete(sessionId);
  },
  // Nobody else could post anything.
  inbox: async () => [],
});
