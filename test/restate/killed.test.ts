import { describe, expect, test } from 'vitest';
import { scriptedModel } from '../../src/testing/index.ts';
import { restateMissing, startRestate } from '../support/restate-server.ts';
import { serveAgent } from './serve.ts';
import { runKilled } from './killed/run.ts';

/** Set one to see again what was seen; `npm run kills` runs many. */
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));

describe.skipIf(restateMissing)(restateMissing || 'kill -9', () => {
  test(`R38: 20 sessions over workers and an engine that are killed at random: each call has one result (seed ${seed})`, async () => {
    const report = await runKilled({ seed, sessions: 20, workers: 2, kills: 3, within: 200 });
    expect(report).toMatchObject({ problems: [], settled: 20 });
    expect(report.killed.workers).toBeGreaterThan(0);
  });

  test('what is asked while the engine starts again is answered when it has', async () => {
    await using server = await startRestate();
    await using served = await serveAgent(server, { model: scriptedModel(['world']) });
    const session = await served.open();
    await session.send('hello');
    await session.settled();
    for (let restarts = 0; restarts < 2; restarts++) {
      await server.kill();
      let isBack = false;
      const asking = Array.from({ length: 8 }, async () => {
        while (!isBack) expect(await session.status()).toBe('settled');
      });
      await server.restart();
      isBack = true;
      await Promise.all(asking);
    }
    expect((await session.settled()).text).toBe('world');
  });
});
