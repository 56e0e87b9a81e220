import { AgentError } from '../errors.ts';
import type { Message } from '../messages/message.ts';
import { boundariesOf } from './boundaries.ts';

/** How much of the end stays as it is: messages, or rounds (replies of the model, with the results of their calls). An integer ≥ 1. */
export type Keep = { messages: number } | { rounds: number };

/** Throws `invalid-option` for what is no `Keep`. */
export const checkKeep = (keep: Keep, where: string): Keep => {
  const entries = Object.entries(typeof keep === 'object' && keep !== null ? keep : {});
  const [entry] = entries;
  const isRight =
    entries.length === 1 &&
    entry !== undefined &&
    ['messages', 'rounds'].includes(entry[0]) &&
    Number.isInteger(entry[1]) &&
    entry[1] >= 1;
  if (isRight) return keep;
  throw new AgentError(
    'invalid-option',
    `${where}: needs { messages } or { rounds }, an integer ≥ 1, got ${JSON.stringify(keep) ?? 'nothing'}`,
  );
};

/** Where the part begins that stays as it is. The last message and what belongs to it always stay. */
export const startOfKept = (messages: readonly Message[], keep: Keep): number => {
  const boundaries = boundariesOf(messages);
  const last = boundaries.at(-1) ?? 0;
  if ('messages' in keep) return boundaries.find((index) => messages.length - index <= keep.messages) ?? last;
  const rounds = boundaries.filter((index) => messages[index]?.role === 'assistant');
  return rounds.length < keep.rounds ? 0 : (rounds.at(-keep.rounds) ?? 0);
};
