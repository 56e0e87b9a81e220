// One contender in a process of its own: what it loads or patches touches no other, and nothing is optimized for two of them.
import type { Contender } from './contender.ts';
import { contenders, workloads } from './lists.ts';
import { steady } from './steady.ts';
import type { Figures } from './workload.ts';

export type Answer = { figures: Figures } | { skipped: true } | { error: string };

const name = process.argv[2] ?? '';
type Run = () => Promise<Figures>;

const samples = new Map<string, Promise<Run | undefined>>();
let loaded: Promise<Contender> | undefined;

const messageOf = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).split('\n')[0] ?? '';

const prepare = async (name: string, contender: Contender): Promise<Run | undefined> => {
  const workload = await workloads.load(name);
  const run = await workload.prepare(contender);
  return run && (workload.isOnce === true ? run : steady(run, workload));
};

const measure = async (workload: string): Promise<Answer> => {
  try {
    loaded ??= contenders.load(name);
    const contender = await loaded;
    const sample = samples.get(workload) ?? prepare(workload, contender);
    samples.set(workload, sample);
    const run = await sample;
    if (run === undefined) return { skipped: true };
    globalThis.gc?.();
    return { figures: await run() };
  } catch (error) {
    return { error: messageOf(error) };
  }
};

process.on('disconnect', () => process.exit());
process.on('message', (workload: string) => {
  void measure(workload).then((answer) => process.send?.(answer));
});
