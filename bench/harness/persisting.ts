import { existsSync, readFileSync } from 'node:fs';
import { createTask, roundsOf } from './task.ts';
import type { Contender } from './contender.ts';
import type { Figures } from './workload.ts';

const counter = '/proc/self/io';

/** Bytes that this process has handed to the system to write so far; NaN where the system does not count them. */
const written = (): number =>
  existsSync(counter) ? Number(/^wchar: (\d+)$/m.exec(readFileSync(counter, 'utf8'))?.[1]) : NaN;

const resultOf = (id: number): string => `entry ${id} `.padEnd(1000, 'x');

export interface Persisted {
  ms: number;
  bytes: number;
  /** Of all messages as JSON. */
  messages: number;
  /** Bytes written from the call of one round to that of another. */
  between(from: number, to: number): number;
}

/** Rounds of one call with 1 kB results, every step stored: what was written until the last answer was asked for. */
export const persisting = async (
  contender: Contender,
  rounds: number,
  figures: (run: Persisted) => Figures,
): Promise<(() => Promise<Figures>) | undefined> => {
  if (contender.isStored !== true) return undefined;
  const at: number[] = [];
  const task = createTask({
    replies: roundsOf(rounds),
    execute: ({ id }) => {
      at.push(written());
      return resultOf(id);
    },
  });
  const run = await contender.prepare(task);
  const messages = JSON.stringify(
    task.replies.flatMap(({ calls = [], text }) => [
      { role: 'assistant', content: calls.length === 0 ? text : calls },
      ...calls.map(({ id, input }) => ({ role: 'tool', id, output: resultOf(input.id) })),
    ]),
  ).length;
  return async () => {
    at.length = 0;
    await run();
    const between = (from: number, to: number): number => (at[to] ?? NaN) - (at[from] ?? NaN);
    const ms = (task.asked.at(-1) ?? NaN) - (task.asked[0] ?? NaN);
    return figures({ ms, bytes: between(0, rounds - 1), messages, between });
  };
};
