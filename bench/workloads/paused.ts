import { createTask, roundsOf } from '../harness/task.ts';
import type { Figures, Workload } from '../harness/workload.ts';

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
    'Runs that wait for a decision on one call, all held in memory: bytes of heap and buffers for each, its messages with it. Beside it where nobody holds the live run: as its document, or in a store in memory.',
  unit: 'bytes',
  rounds: 1,
  isOnce: true,
  prepare: async (contender) => {
    const task = createTask({ replies: roundsOf(1), execute: () => '' });
    const pause = await contender.pause?.(task);
    if (pause === undefined) return undefined;
    const asleep = Object.entries(contender.asleep?.(task) ?? {});
    return async () => {
      const figures: Figures = { size: await sizeOf(pause) };
      for (const [name, keep] of asleep) figures[name] = await sizeOf(keep);
      return figures;
    };
  },
};

/** Bytes for each of what `make` makes. */
const sizeOf = async (make: () => Promise<unknown>): Promise<number> => {
  for (let index = 0; index < 50; index += 1) await make();
  const before = heap();
  const held: unknown[] = [];
  for (let index = 0; index < count; index += 1) held.push(await make());
  return (heap() - before) / held.length;
};
