import { AgentError, errorData } from '../errors.ts';
import type { KnownSession } from './known-session.ts';
import type { Told } from './protocol.ts';
import type { Step } from './step.ts';

/**
 * Bytes that are carried in one piece. The engine takes 32 MiB where it is not told otherwise, and cuts off what is larger each time it is tried: the
 * session would stand still. The rest is for what a turn adds by itself.
 */
const longest = 24 * 1_048_576;

/** Characters of a command that is carried out in any case: people go on deciding and stopping. */
const small = 65_536;

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

const bytesOf = (value: unknown): number => new Blob([JSON.stringify(value)]).size;

/** A command that adds more than can be carried on is refused, before anything of it is recorded. */
export const withinSize = (
  step: Step,
  { told, known }: { told: Told; known: KnownSession | undefined },
  limit = longest,
): Step => {
  const commits = step.next?.commits ?? [];
  const texts = commits.flatMap(({ state, messages }) => [state, ...messages]);
  const { size = 0, lengths = { whole: 0, changes: 0 }, messages = [] } = known ?? {};
  const length = size + lengths.whole + lengths.changes + lengthOf(texts);
  // A character of JSON takes three bytes at most, also where it is JSON inside JSON.
  if (length * 3 <= limit || JSON.stringify(told).length <= small) return step;
  const before = messages.map((message) => JSON.stringify(message));
  const after = lengths.whole + lengths.changes + bytesOf([...before, ...texts]);
  if (Math.max(after, bytesOf(step)) <= limit) return step;
  const message = `the session would be larger than the engine carries in one piece, ${limit / 1_048_576} MiB; give large data by reference`;
  return { answer: { error: errorData(new AgentError('engine-error', message)) } };
};
