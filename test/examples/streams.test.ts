import { expect, test } from 'vitest';
import { emptyFolder, runExample } from './run-example.ts';

/** What a program printed after the line that names the model. */
const printed = async (file: string): Promise<string[]> => {
  const { status, stdout, stderr } = await runExample(file, [], { cwd: await emptyFolder() });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout.trimEnd().split('\n').slice(1);
};

const numbers = (last: number): string => Array.from({ length: last }, (_, index) => index + 1).join(' ');

test.concurrent('stream.ts tells a late reader all, holds the model back for a slow one, and stops when its reader leaves', async () => {
  const lines = await printed('stream.ts');
  expect(lines[2]).toBe(numbers(20));
  const late = lines[3]?.replace('  late: ', '').split('|') ?? [];
  expect(late.join('')).toBe(numbers(20));
  // What he had missed is one piece, though it came in several.
  expect(late[0]).toMatch(/^1 2 3 4 5 6 7 8 9/);
  const [, ahead = '0', all = '0'] = /: (\d+) pieces were taken[^]*the end: (\d+) pieces/.exec(lines.join('\n')) ?? [];
  expect(Number(ahead)).toBeGreaterThan(0);
  expect(Number(ahead)).toBeLessThan(Number(all) / 2);
  expect(lines).toContain(`  in the end: ${all} pieces, and nothing is lost: true`);
  expect(lines.slice(-2)).toEqual(['  stop: stopped', `  detach: answered ${numbers(30)}`]);
});

test.concurrent('responses.ts shows thoughts and answers, and keeps both', async () => {
  expect(await printed('responses.ts')).toEqual([
    '',
    'The sum of 1 to 100?',
    '  thinks: Pairs from both ends have the same sum.',
    '  says: It is 5050.',
    '',
    'And twice that?',
    '  says: 10100.',
    '',
    'kept: user; assistant (reasoning, text); user; assistant (reasoning, text)',
  ]);
});
