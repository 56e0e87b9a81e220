import { createTask, roundsOf } from '../harness/task.ts';
import { type Workload, timed } from '../harness/workload.ts';

export const workload: Workload = {
  title: '64 calls at once',
  about: 'One round of 64 calls that answer at once, then the answer.',
  unit: 'ms',
  prepare: async (contender) => {
    const run = await contender.prepare(createTask({ replies: roundsOf(1, 64), execute: ({ id }) => `entry ${id}` }));
    return async () => ({ time: await timed(run) });
  },
};
