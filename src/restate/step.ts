import { errorData } from '../errors.ts';
import type { Fate } from '../machines/chart-event.ts';
import type { TurnResult } from '../machines/turn-result.ts';
import type { Commit } from '../stores/store.ts';
import type { LiveSession } from './live-session.ts';
import { isUnfit } from './unfit.ts';
import type { Answer, Settled, Told, View } from './protocol.ts';

/** An effect that is at work somewhere, or an alarm that is set. */
export interface Running {
  path: string[];
  /** Of this one start of it: what an earlier one comes to is not taken for its outcome. */
  id: string;
  /** As the engine knows it. */
  invocation: string;
}

export interface Start {
  path: string[];
  id: string;
  /** Of an alarm: when it rings, in ms since 1970. */
  at?: number;
  /** It was at work when the session was saved, nobody knows where. */
  isRestored: boolean;
  /** It may have to know whether somebody has begun it before. */
  isOnce: boolean;
}

/** What a session did with a command or an outcome: plain JSON, so that it can be recorded and done only once. */
export interface Step {
  answer: Answer;
  /** The alarm has rung too early. */
  isEarly?: boolean;
  /** The session cannot be taken up by this version of the agent. */
  isUnfit?: boolean;
  next?: Next;
}

export interface Next {
  commitId: string;
  commits: Commit[];
  view: View;
  /** Of a session that rests or waits. */
  result?: TurnResult;
  /** How many turns have come to their end. */
  ends: number;
  /** Of messages. */
  fates: { id: string; fate: Fate }[];
  starts: Start[];
  /** Keys of effects that nobody waits for any more, and of those that are to give up. */
  ended: string[];
  aborted: string[];
}

export type Input = { told: Told } | { settled: Settled };

/** Of paths: ids of actors hold no slash. */
export const keyOf = (path: readonly string[]): string => path.join('/');
/** Of the model of the session's own; those of agents inside calls have longer ones. */
export const modelKey = 'model';

const answerOf = (input: Input, next: Next | undefined): Answer => {
  const found = 'told' in input ? next?.fates.find(({ id }) => id === input.told.id) : undefined;
  return found === undefined ? {} : { fate: found.fate };
};

export interface StepGiven {
  /** The session as it rests. */
  live(): LiveSession;
  running: Readonly<Record<string, Running>>;
  input: Input;
  now: number;
}

/**
 * Takes a session one step further, with all that follows without waiting for anybody. What a command may not do is its answer; an outcome that
 * the session cannot take throws, or waits for another version of the agent: it must not be lost.
 */
export const takeStep = async ({ live, running, input, now }: StepGiven): Promise<Step> => {
  if ('settled' in input) {
    const { at } = input.settled;
    if (at !== undefined && now < at) return { answer: {}, isEarly: true };
  }
  try {
    const next = await live().move(input, running);
    return { answer: answerOf(input, next), ...(next === undefined ? {} : { next }) };
  } catch (error) {
    if ('settled' in input && isUnfit(error)) return { answer: {}, isUnfit: true };
    if ('settled' in input) throw error;
    return { answer: { error: errorData(error) } };
  }
};
