import type { Commit } from '../stores/store.ts';
import type { Since } from './protocol.ts';

/**
 * Where the commits of a session are. What came last stands in the log itself; what is older was sealed into chunks under keys of their own, so
 * that neither reading nor writing the newest part costs more in a long session than in a short one.
 */
export interface Log {
  /** The commit that wrote the last whole state. */
  whole: number;
  /** The last commit in each chunk of states. */
  stateEnds: number[];
  /** The states since: one per commit. */
  states: string[];
  /** How many messages there are up to the end of each chunk of messages. */
  messageEnds: number[];
  messages: string[];
}

export const emptyLog: Log = { whole: 0, stateEnds: [], states: [], messageEnds: [], messages: [] };

/** Characters from which on what is unsealed becomes a chunk. */
const chunkSize = 8_192;

export type Chunks = Readonly<Record<string, string[]>>;

export interface Appended {
  log: Log;
  /** Chunks that are new, by their keys. */
  sealed: Chunks;
  /** Keys of chunks that nobody needs any more. */
  cleared: string[];
}

const stateKey = (index: number): string => `states:${index}`;
const messageKey = (index: number): string => `messages:${index}`;

const isFull = (texts: readonly string[]): boolean => texts.reduce((sum, { length }) => sum + length, 0) > chunkSize;

export const appended = (before: Log, commits: readonly Commit[]): Appended => {
  let { whole, stateEnds, states } = before;
  for (const { summary, state, isWhole } of commits) {
    if (isWhole) [whole, stateEnds, states] = [summary.revision, [], []];
    states = [...states, state];
  }
  let { messageEnds } = before;
  let messages = [...before.messages, ...commits.flatMap((commit) => commit.messages)];
  const sealed: Record<string, string[]> = {};
  const last = commits.at(-1)?.summary;
  if (last !== undefined && isFull(states)) {
    sealed[stateKey(stateEnds.length)] = states;
    [stateEnds, states] = [[...stateEnds, last.revision], []];
  }
  if (last !== undefined && isFull(messages)) {
    sealed[messageKey(messageEnds.length)] = messages;
    [messageEnds, messages] = [[...messageEnds, (messageEnds.at(-1) ?? 0) + messages.length], []];
  }
  const cleared = before.stateEnds.map((_, index) => stateKey(index)).slice(stateEnds.length);
  return { log: { whole, stateEnds, states, messageEnds, messages }, sealed, cleared };
};

const from = (ends: readonly number[], known: number): number => {
  const first = ends.findIndex((end) => end > known);
  return first === -1 ? ends.length : first;
};

/** The keys of the chunks that somebody lacks who has the session up to `since`. */
export const chunksAfter = ({ whole, stateEnds, messageEnds }: Log, since: Since): string[] => [
  ...stateEnds.map((_, index) => stateKey(index)).slice(since.revision < whole ? 0 : from(stateEnds, since.revision)),
  ...messageEnds.map((_, index) => messageKey(index)).slice(from(messageEnds, since.messages)),
];

/** What somebody lacks; undefined where a chunk is missing. */
export const textsAfter = (
  { whole, stateEnds, states, messageEnds, messages }: Log,
  since: Since,
  chunks: Chunks,
): { states: string[]; isWhole: boolean; messages: string[] } | undefined => {
  const isWhole = since.revision < whole;
  const join = (
    ends: readonly number[],
    keyOf: (index: number) => string,
    rest: readonly string[],
    { start, known }: { start: number; known: number },
  ): string[] | undefined => {
    const first = from(ends, known);
    const found = ends.slice(first).map((_, index) => chunks[keyOf(first + index)]);
    if (found.some((chunk) => chunk === undefined)) return undefined;
    const all = [...found.flatMap((chunk) => chunk ?? []), ...rest];
    return all.slice(known - (ends[first - 1] ?? start));
  };
  const newStates = join(stateEnds, stateKey, states, {
    start: whole - 1,
    known: isWhole ? whole - 1 : since.revision,
  });
  const newMessages = join(messageEnds, messageKey, messages, { start: 0, known: since.messages });
  if (newStates === undefined || newMessages === undefined) return undefined;
  return { states: newStates, isWhole, messages: newMessages };
};
