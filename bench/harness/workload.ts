import type { Contender } from './contender.ts';
import type { Standing } from './race.ts';

/** Names of figures with their values; the first is the one that is compared. */
export type Figures = Record<string, number>;

/** Runs one round of the workload. Whatever it makes in `prepare` is made once for each contender. */
export interface Workload {
  title: string;
  /** What is measured, for the table. */
  about: string;
  unit: 'ms' | 'µs' | 'bytes' | 'ratio' | 'kB' | 'per second';
  /** undefined where the contender cannot do it. */
  prepare(contender: Contender): Promise<(() => Promise<Figures>) | undefined>;
  /** In place of the race, for what is not done in a process of the contender's own. */
  alone?(names: readonly string[]): Promise<Record<string, Standing>>;
  /** A round is one run: what it makes stays. Otherwise it runs until it is warm, and then for a while. */
  isOnce?: true;
  /** Rounds are needed only where a figure varies. Default 7. */
  rounds?: number;
}

/** ms of one of `times` runs in a row. */
export const timed = async (run: () => Promise<unknown>, times = 1): Promise<number> => {
  const begun = performance.now();
  for (let index = 0; index < times; index += 1) await run();
  return (performance.now() - begun) / times;
};
