// One life of a scenario in a process of its own, which kills itself at the point that it is told.
import { appendFileSync } from 'node:fs';
import { storeAt } from '../stores/store-at.ts';
import type { CrashPoint } from './crash-point.ts';
import { type CrashScenario, live } from './crash-scenario.ts';

export interface KilledLife {
  /** URL of the module that exports the scenario. */
  scenario: string;
  path: string;
  sessionId: string;
  /** File that gets a line of JSON for every event. */
  log: string;
  crashAt: CrashPoint;
}

const { scenario: url, path, sessionId, log, crashAt } = JSON.parse(process.argv[2] ?? '') as KilledLife;
const { scenario } = (await import(url)) as { scenario: CrashScenario };
const store = storeAt(path);
await live(scenario, {
  store,
  sessionId,
  name: 'first',
  crashAt,
  log: (event) => appendFileSync(log, `${JSON.stringify(event)}\n`),
  die: () => process.kill(process.pid, 'SIGKILL'),
});
await store.close();
