import { createTask } from '../harness/task.ts';
import { type Workload, timed } from '../harness/workload.ts';

const count = 5000;
const deltas = Array.from({ length: count }, (_, index) => `word ${index} `);

export const workload: Workload = {
  title: '5,000 text deltas',
  about:
    'A streamed answer in 5,000 pieces, read by one reader, in µs per piece. The hand-written loop reads the iterable itself.',
  unit: 'µs',
  prepare: async (contender) => {
    const task = createTask({ replies: [{ text: deltas.join('') }], execute: () => '' });
    const run = await contender.stream?.(task, deltas);
    return run && (async () => ({ time: ((await timed(run)) * 1000) / count }));
  },
};
