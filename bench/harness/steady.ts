import { median } from './median.ts';
import type { Figures, Workload } from './workload.ts';

/** ms for which a contender runs before its first sample, before each of the others, and for a sample. */
const first = 2_000;
const again = 300;
const counted = 300;

type Run = () => Promise<Figures>;

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Runs at least once and until so many ms have passed. A time is the mean of all, so that what the collector takes counts; of ratios the median
 * is taken: the mean of those whose lower half was short by chance is too large.
 */
const during = async (ms: number, run: Run, unit: Workload['unit']): Promise<{ figures: Figures; runs: number }> => {
  const end = performance.now() + ms;
  const all: Figures[] = [];
  do all.push(await run());
  while (performance.now() < end);
  const middle = unit === 'ratio' ? median : mean;
  const names = Object.keys(all[0] ?? {});
  const figures = names.map((name) => [name, middle(all.map((each) => each[name] ?? NaN))] as const);
  return { figures: Object.fromEntries(figures), runs: all.length };
};

/**
 * A sample of a process that is at work: while others had their turn the processor's caches were emptied, and what has run a few times is not yet compiled
 * as what runs all day is. What the very first run took stands beside it. A run that is longer than a sample is one.
 */
export const steady = (run: Run, { unit }: Pick<Workload, 'unit'>): Run => {
  let begun: Figures | undefined;
  return async () => {
    let warming = again;
    if (begun === undefined) {
      const { time } = await run();
      begun = time === undefined || unit !== 'ms' ? {} : { 'ms the first time': time };
      warming = first;
    }
    const { figures, runs } = await during(warming, run, unit);
    return { ...(runs === 1 ? figures : (await during(counted, run, unit)).figures), ...begun };
  };
};
