import { createTask, roundsOf } from '../harness/task.ts';
import { type Workload, timed } from '../harness/workload.ts';

export const workload: Workload = {
  title: '50 rounds of one call',
  about: 'Fifty times: the model calls a tool, the tool answers at once.',
  unit: 'ms',
  prepare: async (contender) => {
    const run = await contender.prepare(createTask({ replies: roundsOf(50), execute: ({ id }) => `entry ${id}` }));
    return async () => ({ time: await timed(run) });
  },
};
