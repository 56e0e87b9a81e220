import { copyJson } from './json.ts';
import type { Message } from './message.ts';

/** Gives copies, made where they are asked for and once for each history: what a reader changes in them is changed nowhere else. */
export const copyOnRead = (read: () => readonly Message[]): (() => readonly Message[]) => {
  let seen: readonly Message[] | undefined;
  let copy: readonly Message[] = [];
  return () => {
    const now = read();
    if (now !== seen) copy = copyJson(now);
    seen = now;
    return copy;
  };
};
