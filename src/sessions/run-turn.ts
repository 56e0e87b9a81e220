import { errorData, isInstance } from '../errors.ts';
import type { TurnOptions } from '../machines/turn.ts';
import type { Message } from '../messages/message.ts';
import type { RunOptions } from './agent.ts';
import type { OwnSession } from './own-session.ts';
import type { RunResult } from './session.ts';
import type { Posted } from './turn-waiters.ts';

/** What a turn is begun with, but for its messages and its session. */
export type TurnGiven = Omit<RunOptions, 'session' | 'inspect'>;

/** What is set for this turn alone, or undefined. */
export const turnOptionsOf = ({ limits, toolChoice, settings, metadata }: TurnOptions): TurnOptions | undefined => {
  if ((limits ?? toolChoice ?? settings ?? metadata) === undefined) return undefined;
  const given = { limits, toolChoice, settings, metadata };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as TurnOptions;
};

export interface TurnPost {
  /** Of the message; the session's own where none is given. */
  id?: string;
  /** Told at once, before the turn has come to anything. */
  onPosted?: (posted: Posted) => void;
}

/** What a signal says of why it aborted. That of one that was given no reason says nothing, in the words of its engine. */
const abortReason = ({ reason }: AbortSignal): string => {
  if (typeof reason === 'string') return reason;
  const { name, message } = isInstance(reason, Error) ? errorData(reason) : { name: 'AbortError', message: '' };
  return name === 'AbortError' || message === '' ? 'aborted' : message;
};

/** Sends the messages, and gives what their turn came to. */
export const runTurn = async (
  session: OwnSession,
  messages: Message[],
  given: TurnGiven,
  { id, onPosted }: TurnPost = {},
): Promise<RunResult> => {
  const { signal } = given;
  const posted = session.post(messages, {
    mode: 'queue',
    turn: turnOptionsOf(given),
    ...('context' in given ? { context: given.context } : {}),
    ...(given.model === undefined ? {} : { model: given.model }),
    ...(id === undefined ? {} : { id }),
  });
  onPosted?.(posted);
  const stop = (): void => {
    if (signal !== undefined) posted.withdraw(abortReason(signal));
  };
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await session.finish(await posted.result);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
};
