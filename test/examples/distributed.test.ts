import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restateMissing } from '../support/restate-server.ts';
import { emptyFolder, runExample } from './run-example.ts';

test.skipIf(restateMissing)(
  restateMissing ||
    'the distributed example: a worker is killed while it pays, the other one goes on, and the money moves once',
  async () => {
    const cwd = await emptyFolder();
    const { status, stdout } = await runExample('distributed/start.ts', [], { cwd });
    expect(stdout).toContain('A manager approves Transfer {"to":"Mei","amount":8000}');
    const [, first] = /(worker \d) runs Transfer/.exec(stdout) ?? [];
    expect(stdout).toContain(`${first} is killed in the middle of it`);
    expect(stdout).toContain(`${first === 'worker 1' ? 'worker 2' : 'worker 1'} runs Transfer`);
    expect(stdout).toContain('Agent: 8000 went to Mei; 12000 are left.');
    expect(status).toBe(0);
    const ledger: unknown = JSON.parse(await readFile(join(cwd, '.sessions', 'distributed-ledger.json'), 'utf8'));
    expect(ledger).toMatchObject([{ to: 'Mei', amount: 8000 }]);
  },
  60_000,
);
