import { createTask, roundsOf } from '../harness/task.ts';
import { type Workload, timed } from '../harness/workload.ts';

export const workload: Workload = {
  title: 'resume from JSON',
  about:
    'A run of 20 messages that waits for a decision: from its JSON text to a live run that can be decided (time), and on to its answer (to the end).',
  unit: 'ms',
  prepare: async (contender) => {
    // A question, nine rounds of two messages, and the call that waits: twenty.
    const task = createTask({ replies: roundsOf(10), execute: ({ id }) => `entry ${id}` });
    const paused = await contender.resume?.(task);
    if (paused === undefined) return undefined;
    const { json, wake, finish } = paused;
    const rest = createRest(task);
    return async () => ({
      time: await timed(() => wake(json)),
      'ms to the end': await timed(() => {
        rest();
        return finish(json);
      }),
      'bytes of JSON': json.length,
    });
  },
};

/** Puts the script back to where the run was paused: ten replies were given and nine calls ran. */
const createRest = (task: ReturnType<typeof createTask>) => () => {
  task.begin();
  for (let index = 0; index < 10; index += 1) task.next();
  for (let index = 0; index < 9; index += 1) void task.execute({ id: index, note: 'before the pause' });
};
