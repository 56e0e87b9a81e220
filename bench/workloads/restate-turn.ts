import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent } from '../../src/index.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { median } from '../harness/median.ts';
import type { Standing } from '../harness/race.ts';
import { type Asked, ask, withEngine } from '../harness/restate.ts';
import { benchAgent } from '../harness/restate-worker.ts';
import type { Workload } from '../harness/workload.ts';

const question = { rounds: 1, calls: 3, ms: 0 };
const rounds = 7;

/** Medians of rounds of ten turns, each turn in a session of its own. */
const timesOf = async (open: () => Promise<Asked>): Promise<Standing> => {
  const samples: number[] = [];
  for (let round = 0; round < rounds + 2; round += 1) {
    const begun = performance.now();
    for (let turn = 0; turn < 10; turn += 1) await ask(await open(), question);
    if (round >= 2) samples.push((performance.now() - begun) / 10);
  }
  return { rounds, figures: { time: median(samples) } };
};

const inProcess = async (agent: Agent): Promise<Standing> => {
  try {
    return await timesOf(() => agent.open());
  } finally {
    await agent.close();
  }
};

export const workload: Workload = {
  title: 'a turn over the engine',
  about:
    'A question, one round of three calls that take no time, and the answer: what it costs where it is kept and run. Over Restate every model call and every ' +
    'tool call is an invocation of its own; client, engine and worker share this machine.',
  unit: 'ms',
  prepare: async () => undefined,
  alone: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-restate-'));
    const store = sqliteStore(join(folder, 'sessions.db'));
    try {
      return {
        agentchart: await inProcess(benchAgent()),
        'agentchart-sqlite': await inProcess(benchAgent({ store })),
        'agentchart-restate': await withEngine(1, timesOf),
      };
    } finally {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};
