import { createTask, roundsOf } from '../harness/task.ts';
import type { Workload } from '../harness/workload.ts';

const count = 10_000;

const heap = (): number => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

export const workload: Workload = {
  title: '10,000 paused runs',
  about:
    'Runs that wait for a decision on one call, all held in memory: bytes of heap and buffers for each, its messages with it.',
  unit: 'bytes',
  rounds: 1,
  prepare: async (contender) => {
    const task = createTask({ replies: roundsOf(1), execute: () => '' });
    const pause = await contender.pause?.(task);
    return (
      pause &&
      (async () => {
        for (let index = 0; index < 50; index += 1) await pause();
        const before = heap();
        const held: unknown[] = [];
        for (let index = 0; index < count; index += 1) held.push(await pause());
        const size = (heap() - before) / held.length;
        return { size };
      })
    );
  },
};
