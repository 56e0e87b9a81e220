import { createTask, roundsOf } from '../harness/task.ts';
import { type Workload, timed } from '../harness/workload.ts';

const count = 100;
let samples = 0;

export const workload: Workload = {
  title: 'sessions that wait, in a file',
  about: 'A session that waits for approval, opened by another agent, approved and settled: ms for one.',
  unit: 'ms',
  prepare: async (contender) => {
    const task = createTask({ replies: roundsOf(1), execute: ({ id }) => `entry ${id}` });
    const waiting = contender.waiting?.(task);
    return (
      waiting &&
      (async () => {
        samples += 1;
        const ids = Array.from({ length: count }, (_, index) => `waiting ${samples}:${index}`);
        for (const id of ids) {
          task.begin();
          await waiting.begin(id);
        }
        let index = 0;
        const time = await timed(count, async () => {
          task.begin();
          task.next();
          await waiting.decide(ids[index] ?? '');
          index += 1;
        });
        return { time, 'sessions per second': 1000 / time };
      })
    );
  },
};
