import type { RefusedCommand, SessionStore } from './store.ts';
import { unknownSession } from './unknown-session.ts';

/** What became of a command: nobody has taken it up yet, its session has taken it, or has refused it. */
export type CommandOutcome = { type: 'waiting' } | { type: 'taken' } | ({ type: 'refused' } & RefusedCommand);

const pause = 50;

/**
 * What became of a command that was posted, waited for at most so many ms where nobody has taken it up (`within`, default 0). Rejects with
 * `unknown-session` where the session is gone.
 */
export const commandOutcome = async (
  store: SessionStore,
  sessionId: string,
  commandId: number,
  { within = 0 }: { within?: number } = {},
): Promise<CommandOutcome> => {
  for (let left = within; ; left -= pause) {
    const inbox = await store.inbox(sessionId);
    if (!inbox.some(({ id }) => id === commandId)) break;
    if (left <= 0) return { type: 'waiting' };
    await new Promise<void>((resolve) => {
      setTimeout(resolve, Math.min(left, pause));
    });
  }
  const refused = await store.refusals(sessionId, { after: commandId - 1 });
  const found = refused.find(({ id }) => id === commandId);
  if (found !== undefined) return { type: 'refused', ...found };
  if ((await store.read(sessionId, { at: 1 })) === undefined) throw unknownSession(sessionId);
  return { type: 'taken' };
};
