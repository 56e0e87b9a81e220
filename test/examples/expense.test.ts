import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder, runExample } from './run-example.ts';

const transfers = async (cwd: string): Promise<{ to: string; amount: number }[]> => {
  const text = await readFile(join(cwd, '.sessions', 'ledger.json'), 'utf8').catch(() => '[]');
  return JSON.parse(text).map(({ to, amount }: { to: string; amount: number }) => ({ to, amount }));
};

let asking: Promise<string> | undefined;

/** Where a first process asked for 8000 and left. */
const ask = async (): Promise<string> => {
  const cwd = await emptyFolder();
  const { status, stdout, stderr } = await runExample('expense.ts', ['Pay 8000 to Mei'], { cwd });
  expect(stderr).toBe('');
  expect(stdout).toContain('waiting for a manager: Transfer {"to":"Mei","amount":8000}');
  expect(status).toBe(3);
  expect(await transfers(cwd)).toEqual([]);
  return cwd;
};

/** A folder with what that process left. */
const waiting = async (): Promise<string> => {
  asking ??= ask();
  const cwd = await emptyFolder();
  await cp(await asking, cwd, { recursive: true });
  return cwd;
};

test.concurrent('a small amount is paid without asking anybody', async () => {
  const cwd = await emptyFolder();
  const { status, stdout } = await runExample('expense.ts', ['Pay 5000 to Bo'], { cwd });
  expect(stdout).toContain('5000 went to Bo; 15000 are left.');
  expect(status).toBe(0);
  expect(await transfers(cwd)).toEqual([{ to: 'Bo', amount: 5000 }]);
});

test.concurrent('an approval in a second process pays once, also where it is given twice', async () => {
  const cwd = await waiting();
  await cp(join(cwd, '.sessions', 'expense.json'), join(cwd, 'copy.json'));
  const approved = await runExample('expense.ts', ['--approve'], { cwd });
  expect(approved.stdout).toContain('8000 went to Mei; 12000 are left.');
  expect(approved.status).toBe(0);
  // The session as it was before: its call has the same key in every process.
  const copied = await runExample('expense.ts', ['--file', 'copy.json', '--approve'], { cwd });
  expect(copied.stdout).toContain('8000 went to Mei; 12000 are left.');
  expect(await transfers(cwd)).toEqual([{ to: 'Mei', amount: 8000 }]);
});

test.concurrent('a rejection in a second process pays nothing, and the model reads the reason', async () => {
  const cwd = await waiting();
  const { status, stdout } = await runExample('expense.ts', ['--reject', 'the receipt is missing'], { cwd });
  expect(stdout).toContain('Nothing was transferred. Tool call invocation rejected. the receipt is missing');
  expect(status).toBe(0);
  expect(await transfers(cwd)).toEqual([]);
});

test.concurrent('an edit that does not fit is refused, the next one is what runs', async () => {
  const cwd = await waiting();
  const refused = await runExample('expense.ts', ['--edit', '{"amount":"all"}'], { cwd });
  expect(refused.stderr).toContain('amount');
  expect(refused.status).toBe(1);
  expect(await transfers(cwd)).toEqual([]);
  const { status, stdout } = await runExample('expense.ts', ['--edit', '{"amount":4000}'], { cwd });
  expect(stdout).toContain('4000 went to Mei; 16000 are left.');
  expect(status).toBe(0);
  expect(await transfers(cwd)).toEqual([{ to: 'Mei', amount: 4000 }]);
});

test('a decision without a session says what to do first', async () => {
  const { status, stderr } = await runExample('expense.ts', ['--approve'], { cwd: await emptyFolder() });
  expect(stderr).toContain('There is no session in .sessions/expense.json');
  expect(status).toBe(2);
});
