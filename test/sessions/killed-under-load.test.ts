import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadStored } from '../../src/sessions/load-stored.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { type CrashEnd, type CrashRun, crashProblems, isUnknown } from '../../src/testing/crash-check.ts';
import { type CrashEvent, settledIn } from '../../src/testing/crash-log.ts';
import { live } from '../../src/testing/crash-scenario.ts';
import { violations } from '../../src/messages/violations.ts';
import { load, worldFolder } from '../testing/scenarios.ts';

/** Set to 200 by hand. */
const kills = Number(process.env['KILLS'] ?? 8);
const sessionsAtOnce = 8;
/** ms until it is killed. */
const longestWork = 300;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-load-'));
});
afterAll(async () => {
  for (const each of [folder, worldFolder]) await rm(each, { recursive: true, force: true, maxRetries: 3 });
});

/** Works on the sessions in a process that is killed at a random moment of its work: true where it was not quick enough to end before. */
const work = (path: string, name: string, ids: readonly string[], isKilled: boolean): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const script = new URL('./scripts/work-until-killed.ts', import.meta.url).pathname;
    const flags = ['--conditions=agentchart-source', '--disable-warning=ExperimentalWarning'];
    const child = spawn(process.execPath, [...flags, script, path, folder, name, JSON.stringify(ids)], {
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (isKilled) child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), Math.random() * longestWork));
    child.once('error', reject).once('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(true);
      else if (code === 0) resolve(false);
      else reject(new Error(`the process ended with ${signal ?? code}`));
    });
  });

const eventsOf = async (id: string): Promise<CrashEvent[]> => {
  const file = join(folder, `${id}.log`);
  if (!existsSync(file)) return [];
  // Killed in the middle of a line: it happened, but nobody saw it.
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.endsWith('}'));
  return lines.map((line) => JSON.parse(line) as CrashEvent);
};

test('R38: kill -9 at random moments under load: nothing is lost or doubled, and every session comes to its end', async () => {
  const reference: CrashEvent[] = [];
  const { end } = await live(load, {
    store: { ...memoryStore(), durable: true },
    sessionId: 'reference',
    name: 'reference',
    log: (event) => void reference.push(event),
    die: () => undefined,
  });
  if (end === undefined) throw new Error('the run without a crash came to no end');
  const clean: CrashRun = { events: reference, end };

  const path = join(folder, 'sessions.db');
  let killed = 0;
  let unknown = 0;
  let settled = 0;
  let happened = 0;
  for (let batch = 0; killed < kills; batch++) {
    const ids = Array.from({ length: sessionsAtOnce }, (_, index) => `batch-${batch}-${index}`);
    const lives = new Map<string, CrashEvent[]>(ids.map((id) => [id, []]));
    const seen = new Map<string, number>();
    for (let life = 0, isOver = false; !isOver; life++) {
      isOver = !(await work(path, `${batch}-${life}`, ids, killed < kills));
      if (!isOver) killed += 1;
      const store = sqliteStore(path);
      for (const id of ids) {
        const all = await eventsOf(id);
        const loaded = await loadStored(store, id);
        expect(violations(loaded?.document.messages ?? [])).toEqual([]);
        lives.get(id)?.push(...all.slice(seen.get(id) ?? 0), { type: 'died', settled: settledIn(loaded?.document) });
        seen.set(id, all.length);
      }
      await store.close();
    }
    for (const id of ids) {
      const last = JSON.parse(await readFile(join(folder, `${id}.end`), 'utf8')) as CrashEnd;
      const run = { events: lives.get(id) ?? [], end: last };
      expect(crashProblems(clean, run)).toEqual([]);
      // Also where an outcome is unknown: the model of this scenario goes the same way then.
      expect(last.result.text).toBe(end.result.text);
      expect(last.messages).toHaveLength(end.messages.length);
      if (isUnknown(run)) unknown += 1;
      settled += 1;
      happened += run.events.length;
    }
  }
  expect(killed).toBe(kills);
  if (process.env['KILLS'] !== undefined) console.log(JSON.stringify({ killed, settled, unknown, happened }));
}, 1_200_000);
