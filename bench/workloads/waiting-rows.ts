import { createTask, roundsOf } from '../harness/task.ts';
import { type Workload, timed } from '../harness/workload.ts';

const count = 10_000;
/** Of those of one round: seven rounds, with the two that do not count, leave some. */
const portion = 1_000;

export const workload: Workload = {
  title: '10,000 sessions that wait, in a file',
  about: `Rows of an SQLite file, each a session that waits for approval: opened by another agent, approved and settled, ${portion} of them in a round: ms for one.`,
  unit: 'ms',
  isOnce: true,
  prepare: async (contender) => {
    const task = createTask({ replies: roundsOf(1), execute: ({ id }) => `entry ${id}` });
    const waiting = contender.waiting?.(task);
    if (waiting === undefined) return undefined;
    for (let index = 0; index < count; index += 1) {
      task.begin();
      await waiting.begin(`waiting ${index}`);
    }
    let next = 0;
    return async () => {
      if (next + portion > count) throw new Error('nothing waits any more');
      const time = await timed(async () => {
        task.begin();
        task.next();
        await waiting.decide(`waiting ${next}`);
        next += 1;
      }, portion);
      return { time, 'sessions per second': 1000 / time };
    };
  },
};
