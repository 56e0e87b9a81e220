import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const script = join(import.meta.dirname, '..', '..', 'scripts', 'soak.ts');

interface Soaked {
  turns: number;
  restarts: number;
  decisions: number;
  stops: number;
  ends: Record<string, number>;
  rejections: number;
  warnings: number;
  unsettled: number;
  bytesPerTurn: number;
}

/** In a process of its own, whose memory can be measured. `SOAK=full` is what `npm run soak` runs. */
const soak = (...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--expose-gc', '--disable-warning=ExperimentalWarning', script, ...args],
      { env: { ...process.env, NODE_OPTIONS: '' } },
      (_, stdout, stderr) => resolve({ status: child.exitCode ?? -1, stdout, stderr }),
    );
  });

const size = process.env['SOAK'] === 'full' ? [] : ['--sessions', '60', '--turns', '2400'];

test('many sessions at once leave nothing behind: no memory, no rejection, no warning, no turn that does not end', async () => {
  const { status, stdout, stderr } = await soak(...size);
  expect(stderr).toBe('');
  console.log(stdout);
  const soaked = JSON.parse(stdout) as Soaked;
  expect(soaked).toMatchObject({ rejections: 0, warnings: 0, unsettled: 0 });
  expect(soaked.turns).toBeGreaterThanOrEqual(2400);
  expect(Object.keys(soaked.ends).toSorted()).toEqual(['answered', 'failed', 'limit', 'stopped']);
  for (const count of [soaked.restarts, soaked.decisions, soaked.stops]) expect(count).toBeGreaterThan(100);
  expect(soaked.bytesPerTurn).toBeLessThanOrEqual(500);
  expect(status).toBe(0);
}, 300_000);

test('the same measure notices what is held on to', async () => {
  const { status, stdout } = await soak('--sessions', '20', '--turns', '640', '--leak');
  expect((JSON.parse(stdout) as Soaked).bytesPerTurn).toBeGreaterThan(500);
  expect(status).toBe(1);
});
