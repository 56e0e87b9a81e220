import type { Figures, Workload } from './workload.ts';

/** ms for which a contender runs before its first sample, before each of the others, and for a sample. */
const first = 2_000;
const again = 300;
const counted = 300;

type Run = () => Promise<Figures>;

/** Runs at least once and until so many ms have passed, and gives the mean of each figure. */
const during = async (ms: number, run: Run): Promise<{ figures: Figures; runs: number }> => {
  const end = performance.now() + ms;
  const sums: Figures = {};
  let runs = 0;
  do {
    for (const [key, value] of Object.entries(await run())) sums[key] = (sums[key] ?? 0) + value;
    runs += 1;
  } while (performance.now() < end);
  return { figures: Object.fromEntries(Object.entries(sums).map(([key, sum]) => [key, sum / runs])), runs };
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
    const { figures, runs } = await during(warming, run);
    return { ...(runs === 1 ? figures : (await during(counted, run)).figures), ...begun };
  };
};
