import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { contenders } from './lists.ts';
import type { Answer } from './worker.ts';
import { median } from './median.ts';
import type { Figures, Workload } from './workload.ts';

/** Medians of one contender; or why there are none. */
export type Standing = { figures: Figures; rounds: number } | { skipped: true } | { error: string };

const medians = (samples: readonly Figures[]): Figures =>
  Object.fromEntries(
    Object.keys(samples[0] ?? {}).map((key) => [key, median(samples.map((sample) => sample[key] ?? NaN))]),
  );

/** ms for one sample, and for all samples of one contender in one workload: who needs longer is measured less often. */
const longest = 100_000;
const budget = 20_000;

interface Worker {
  measure(workload: string): Promise<Answer>;
  stop(): void;
}

const startWorker = (name: string): Worker => {
  let child: ChildProcess | undefined;
  const begin = (): ChildProcess =>
    fork(join(import.meta.dirname, 'worker.ts'), [name], {
      execArgv: ['--expose-gc', '--max-old-space-size=6000'],
      env: { ...process.env, NODE_ENV: 'production', MASTRA_TELEMETRY_DISABLED: '1', AI_SDK_LOG_WARNINGS: 'false' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
  return {
    measure: async (workload) => {
      const asked = (child ??= begin());
      const { signal, abort } = deadline(longest);
      asked.send(workload);
      try {
        const [answer] = (await Promise.race([
          once(asked, 'message', { signal }),
          once(asked, 'exit', { signal }).then(([code, by]) => [
            { error: `its process ended by ${String(code ?? by)}` },
          ]),
        ])) as [Answer];
        if ('error' in answer && answer.error.startsWith('its process')) child = undefined;
        return answer;
      } catch {
        asked.kill('SIGKILL');
        child = undefined;
        return { error: `no answer within ${longest / 1000} s` };
      } finally {
        abort();
      }
    },
    stop: () => {
      // It removes what it wrote, then ends.
      child?.disconnect();
      child = undefined;
    },
  };
};

const deadline = (ms: number): { signal: AbortSignal; abort: () => void } => {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  return {
    signal: controller.signal,
    abort: () => {
      clearTimeout(timer);
      controller.abort();
    },
  };
};

export interface Race {
  run(name: string, workload: Workload): Promise<Record<string, Standing>>;
  stop(): void;
}

/** Lets all contenders run each workload in turn, round by round, so that whatever slows the machine slows all of them. */
export const createRace = (names: readonly string[] = contenders.names, rounds = 7): Race => {
  const workers = new Map(names.map((name) => [name, startWorker(name)]));
  return {
    run: async (name, workload) => {
      const samples = new Map<string, Figures[]>();
      const spent = new Map<string, number>();
      const out: Record<string, Standing> = {};
      const times = workload.rounds ?? rounds;
      // The first rounds are for the compiler, and do not count.
      const warm = times === 1 ? 0 : 2;
      for (let round = 0; round < times + warm; round += 1) {
        for (const [contender, worker] of round % 2 === 0 ? workers : [...workers].toReversed()) {
          const ms = spent.get(contender) ?? 0;
          if (out[contender] !== undefined || ms > budget) continue;
          const begun = performance.now();
          const answer = await worker.measure(name);
          spent.set(contender, ms + performance.now() - begun);
          const isLate = ms + performance.now() - begun > budget;
          if (!('figures' in answer)) out[contender] = answer;
          else if (round >= warm || isLate) samples.set(contender, [...(samples.get(contender) ?? []), answer.figures]);
        }
      }
      for (const [contender, taken] of samples) {
        out[contender] ??= { figures: medians(taken), rounds: taken.length };
      }
      // The next workload begins in processes that have done nothing yet.
      for (const worker of workers.values()) worker.stop();
      return out;
    },
    stop: () => {
      for (const worker of workers.values()) worker.stop();
    },
  };
};
