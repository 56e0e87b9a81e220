import { createTask } from '../harness/task.ts';
import { type Workload, timed } from '../harness/workload.ts';

export const workload: Workload = {
  title: 'one answer',
  about: 'A question and its answer, without tools.',
  unit: 'ms',
  prepare: async (contender) => {
    const run = await contender.prepare(createTask({ replies: [{ text: 'Hello.' }], execute: () => '' }));
    return async () => ({ time: await timed(run) });
  },
};
