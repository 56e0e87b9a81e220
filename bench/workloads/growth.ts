import { createTask, roundsOf } from '../harness/task.ts';
import type { Workload } from '../harness/workload.ts';

const rounds = 500;
const some = 50;

export const workload: Workload = {
  title: '500 rounds',
  about: `The last ${some} of ${rounds} rounds of one call against the first ${some}: does a round take longer where there is more history?`,
  unit: 'ratio',
  prepare: async (contender) => {
    const task = createTask({ replies: roundsOf(rounds), execute: ({ id }) => `entry ${id}` });
    const run = await contender.prepare(task);
    const between = (from: number, to: number): number => (task.asked[to] ?? NaN) - (task.asked[from] ?? NaN);
    // The sums of several runs: in one of them the collector comes in either part, or in none.
    return async () => {
      const sums = { all: 0, first: 0, last: 0 };
      const begun = performance.now();
      let runs = 0;
      do {
        await run();
        runs += 1;
        sums.all += between(0, rounds);
        sums.first += between(0, some);
        sums.last += between(rounds - some, rounds);
      } while (performance.now() - begun < 300);
      return {
        growth: sums.last / sums.first,
        'ms in all': sums.all / runs,
        'ms first': sums.first / runs,
        'ms last': sums.last / runs,
      };
    };
  },
};
