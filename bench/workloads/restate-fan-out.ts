import { median } from '../harness/median.ts';
import type { Standing } from '../harness/race.ts';
import { type Asked, ask, withEngine } from '../harness/restate.ts';
import { benchAgent } from '../harness/restate-worker.ts';
import type { Workload } from '../harness/workload.ts';

const question = { rounds: 1, calls: 100, ms: 500 };
const rounds = 5;

const timesOf = async (open: () => Promise<Asked>): Promise<Standing> => {
  const samples: number[] = [];
  for (let round = 0; round < rounds + 1; round += 1) {
    const session = await open();
    const begun = performance.now();
    await ask(session, question);
    if (round > 0) samples.push(performance.now() - begun);
  }
  return { rounds, figures: { time: median(samples) } };
};

export const workload: Workload = {
  title: '100 calls of 500 ms over the engine',
  about:
    'One round of 100 calls at once that take 500 ms each, then the answer. Over Restate each is an invocation of its own.',
  unit: 'ms',
  prepare: async () => undefined,
  alone: async () => {
    const agent = benchAgent();
    const here = await timesOf(() => agent.open());
    await agent.close();
    return { agentchart: here, 'agentchart-restate': await withEngine(1, timesOf) };
  },
};
