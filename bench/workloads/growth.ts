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
    return async () => {
      await run();
      const between = (from: number, to: number): number => (task.asked[to] ?? NaN) - (task.asked[from] ?? NaN);
      const first = between(0, some);
      const last = between(rounds - some, rounds);
      return { growth: last / first, 'ms in all': between(0, rounds), 'ms first': first, 'ms last': last };
    };
  },
};
