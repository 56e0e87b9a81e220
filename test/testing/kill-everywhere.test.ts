import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killEverywhere } from '../../src/testing/kill-everywhere.ts';
import { worldFolder } from './scenarios.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-killed-'));
});
afterAll(async () => {
  for (const each of [folder, worldFolder]) await rm(each, { recursive: true, force: true, maxRetries: 3 });
});

const execArgv = ['--conditions=agentchart-source', '--disable-warning=ExperimentalWarning'];

test('R38: a process killed with SIGKILL at every point of the weather example leaves a session that goes on', async () => {
  const path = join(folder, 'weather.db');
  const { crashes, unknown, missed } = await killEverywhere(new URL('killed/weather.ts', import.meta.url), {
    path,
    execArgv,
  });
  expect({ unknown, missed }).toEqual({ unknown: 0, missed: 0 });
  expect(crashes).toBeGreaterThanOrEqual(14);
  expect((await readdir(folder)).filter((name) => name.endsWith('.log'))).toEqual([]);
});

test('R38: … and so in the middle of tools that may not be repeated', async () => {
  const { crashes, unknown } = await killEverywhere(new URL('killed/unsafe.ts', import.meta.url), {
    path: join(folder, 'unsafe.db'),
    execArgv,
    points: ({ what }) => what === 'tool run',
  });
  expect(crashes).toBe(6);
  expect(unknown).toBeGreaterThan(1);
});
