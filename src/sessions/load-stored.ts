import { AgentError } from '../errors.ts';
import type { SessionDocument } from '../documents/document.ts';
import { SessionConflictError } from '../stores/session-conflict.ts';
import type { Command, SessionKeeper } from '../stores/store.ts';
import { type MayLack, isWaiting } from './check-tools.ts';
import type { Committed } from './next-commit.ts';
import { type Loaded, readStored } from './read-stored.ts';

export const loadStored = async (store: SessionKeeper, sessionId: string): Promise<Loaded | undefined> => {
  const stored = await store.read(sessionId);
  return stored === undefined ? undefined : readStored(stored);
};

/** The calls whose tool is not needed any more: the inbox has a rejection of them, or an answer. */
export const callsDoneWithout = async (store: SessionKeeper, { sessionId }: SessionDocument): Promise<MayLack> => {
  const commands = await store.inbox(sessionId);
  const ids = new Set(
    // What others left may be anything.
    commands.flatMap(({ event }: { event: Command['event'] | null }) =>
      event?.type === 'approval.rejected' || event?.type === 'call.result' ? [event.callId] : [],
    ),
  );
  return (call) => isWaiting(call) && ids.has(call.callId);
};

/** The session as it is, or as it was at a revision; `unknown-session` or `unknown-revision` where there is none. */
export const documentAt = async (
  store: Pick<SessionKeeper, 'read'>,
  sessionId: string,
  at: number | undefined,
): Promise<SessionDocument> => {
  const stored = await store.read(sessionId, at === undefined ? {} : { at });
  if (stored !== undefined) return readStored(stored).document;
  const last = at === undefined ? undefined : await store.read(sessionId);
  if (last === undefined)
    throw new AgentError('unknown-session', `the store has no session ${JSON.stringify(sessionId)}`);
  throw new AgentError(
    'unknown-revision',
    `session "${sessionId}" has no revision ${String(at)}; its revisions are 1 to ${last.summary.revision}`,
  );
};

/**
 * What the store has of a session that is made from a document. A document that does not stand on the last revision would write over
 * what came since: a durable store refuses it. One in memory is the process's own; there the document takes the session's place.
 */
export const joined =
  (store: SessionKeeper, { sessionId, revision, createdAt, messages }: SessionDocument) =>
  async (): Promise<Committed | undefined> => {
    const stored = await store.read(sessionId);
    if (stored === undefined) return undefined;
    const { summary } = stored;
    const isItsOwn = summary.createdAt === createdAt;
    if (isItsOwn && summary.revision === revision && summary.messages <= messages.length)
      return { revision, messages: summary.messages };
    if (store.durable) {
      const stands = revision === undefined ? 'a document of no revision' : `a document of revision ${revision}`;
      const has = isItsOwn ? `revision ${summary.revision}` : 'another session of this id';
      throw new SessionConflictError(sessionId, `${stands} was restored, and the store has ${has}`);
    }
    await store.delete(sessionId);
    return undefined;
  };
