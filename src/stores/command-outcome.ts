import { AgentError } from '../errors.ts';
import type { RefusedCommand, SessionStore } from './store.ts';
import { unknownSession } from './unknown-session.ts';

/** What became of a command: nobody has taken it up yet, its session has taken it, or has refused it. */
export type CommandOutcome = { type: 'waiting' } | { type: 'taken' } | ({ type: 'refused' } & RefusedCommand);

const pause = 50;

const nameOf = (id: unknown): string => (typeof id === 'string' ? JSON.stringify(id) : String(id));

/**
 * What became of a command that was posted, waited for at most so many ms where nobody has taken it up (`within`, default 0). Rejects with
 * `unknown-session` where the session is gone, `invalid-option` for what is no id of a command, and `unknown-command` for an id that the
 * store has not given to any command yet. Of a command that was taken nothing is kept: the id of another session's command says `taken`, and
 * so does one that was never given where the store does not tell its last one (`lastCommand`).
 */
export const commandOutcome = async (
  store: SessionStore,
  sessionId: string,
  commandId: number,
  options: { within?: number } = {},
): Promise<CommandOutcome> => {
  const within: unknown = (options as typeof options | null)?.within ?? 0;
  // What is no number would be waited for without an end.
  if (typeof within !== 'number' || !(within >= 0)) {
    throw new AgentError('invalid-option', `within is ${nameOf(within)}; it has to be in ms, 0 or more`);
  }
  if (!Number.isSafeInteger(commandId) || commandId < 1) {
    throw new AgentError('invalid-option', `the command's id is ${nameOf(commandId)}; give what post() gave`);
  }
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
  const last = await store.lastCommand?.();
  if (last !== undefined && commandId > last) {
    throw new AgentError(
      'unknown-command',
      `there was no command ${commandId} yet; the last one in the store is ${last}`,
    );
  }
  return { type: 'taken' };
};
