import { setTimeout } from 'node:timers/promises';
import { createTask, roundsOf } from '../harness/task.ts';
import { type Workload, timed } from '../harness/workload.ts';

export const workload: Workload = {
  title: '64 calls of 20 ms',
  about: 'One round of 64 calls that take 20 ms each, then the answer.',
  unit: 'ms',
  prepare: async (contender) => {
    const execute = ({ id }: { id: number }): Promise<string> => setTimeout(20, `entry ${id}`);
    const run = await contender.prepare(createTask({ replies: roundsOf(1, 64), execute }));
    return async () => ({ time: await timed(run) });
  },
};
