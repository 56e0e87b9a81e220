import type { Agent } from '../sessions/agent.ts';
import type { Session } from '../sessions/session.ts';
import { turnUnderWay } from '../sessions/turn-under-way.ts';
import { type Access, sessionIdOf } from './access.ts';
import { RequestError } from './request-error.ts';

const storedId = (owner: string, id: string): string => {
  try {
    const stored = sessionIdOf(owner, id);
    if (stored.length <= 1000 && stored.isWellFormed() && !stored.includes('\0')) return stored;
  } catch {
    // An owner that is no text: the application's fault, but no reason to let anybody in.
  }
  throw new RequestError(400, 'invalid-session-id', 'the session id is too long or no text');
};

/** The client's session; a new one where there is none. */
export const openSession = (agent: Agent, { owner, ...access }: Access, id: string): Promise<Session> =>
  agent.open(storedId(owner, id), 'context' in access ? { context: access.context } : {});

export const turnOf = (session: Session): number => turnUnderWay(session).number;

/** The same, but 404 where nothing has been said yet. */
export const findSession = async (agent: Agent, access: Access, id: string): Promise<Session> => {
  const session = await openSession(agent, access, id);
  if (turnOf(session) === 0 && session.messages.length === 0 && session.status === 'idle')
    throw new RequestError(404, 'unknown-session', 'there is no such session');
  return session;
};

const watched = new WeakSet<Session>();

/**
 * Reads along until the turn rests or waits. Who joins later finds the reply under way in pieces even where the client that asked for it has
 * gone, since models are streamed only while somebody reads.
 */
export const readAlong = (session: Session): void => {
  if (watched.has(session) || session.status !== 'busy') return;
  watched.add(session);
  const read = async (): Promise<void> => {
    for await (const event of session.stream()) if (event.type === 'finish') return;
  };
  void read()
    .catch(() => undefined)
    .finally(() => watched.delete(session));
};
