import { describe, expect, test } from 'vitest';
import { restateMissing } from '../support/restate-server.ts';
import { runKilled } from './killed/run.ts';

/** Set one to see again what was seen; `npm run kills` runs many. */
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));

describe.skipIf(restateMissing)(restateMissing || 'kill -9', () => {
  test(`R38: 20 sessions over workers and an engine that are killed at random: each call has one result (seed ${seed})`, async () => {
    const report = await runKilled({ seed, sessions: 20, workers: 2, kills: 3, within: 200 });
    expect(report).toMatchObject({ problems: [], settled: 20 });
    expect(report.killed.workers).toBeGreaterThan(0);
  }, 120_000);
});
