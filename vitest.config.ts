import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // XState warns of misuse only under `development`; the examples import the package by its name.
  resolve: { conditions: ['development', 'agentchart-source'] },
  ssr: { resolve: { conditions: ['development', 'agentchart-source'], externalConditions: ['development'] } },
  test: {
    include: ['test/**/*.test.ts'],
    execArgv: ['--conditions=development'],
    // Threads begin sooner than processes.
    pool: 'threads',
    testTimeout: 20_000,
    // For the processes that tests start: most of their work is to read the same sources.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'agentchart-compile-cache') },
    // One less than the cores is the default, which leaves one of two idle.
    maxWorkers: '100%',
  },
});
