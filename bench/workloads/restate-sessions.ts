import { median } from '../harness/median.ts';
import type { Standing } from '../harness/race.ts';
import { ask, withEngine } from '../harness/restate.ts';
import type { Workload } from '../harness/workload.ts';

const question = { rounds: 1, calls: 1, ms: 0 };
const sessions = 200;
const clients = 32;
const rounds = 3;

const perSecond = async (workers: number): Promise<Standing> => {
  const samples = await withEngine(workers, async (open) => {
    const taken: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const begun = performance.now();
      let left = sessions;
      await Promise.all(
        Array.from({ length: clients }, async () => {
          while (left > 0) {
            left -= 1;
            await ask(await open(), question);
          }
        }),
      );
      if (round > 0) taken.push((sessions / (performance.now() - begun)) * 1_000);
    }
    return taken;
  });
  return { rounds, figures: { 'sessions a second': median(samples) } };
};

export const workload: Workload = {
  title: 'sessions a second over the engine',
  about:
    'Sessions of one turn with one call, 32 at a time, with one and with two workers. Client, engine and workers share this machine: a second worker adds ' +
    'something only where cores are left.',
  unit: 'per second',
  prepare: async () => undefined,
  alone: async () => ({ 'agentchart-restate': await perSecond(1), 'agentchart-restate-2': await perSecond(2) }),
};
