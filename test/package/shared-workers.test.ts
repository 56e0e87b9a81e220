import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const tests = join(import.meta.dirname, '..');

test('no module that test files share has a hook at its top: in a worker that stays it would be there for the first file alone', async () => {
  const files = (await readdir(tests, { recursive: true })).map((file) => file.replaceAll('\\', '/'));
  // Vitest itself runs `let-go.ts` for every file.
  const shared = files.filter((file) => file.endsWith('.ts') && !/\.test\.ts$|^support\/let-go\.ts$/.test(file));
  expect(shared.length).toBeGreaterThan(50);
  const hooked: string[] = [];
  for (const file of shared)
    if (/^(before|after)(Each|All)\(/m.test(await readFile(join(tests, file), 'utf8'))) hooked.push(file);
  expect(hooked).toEqual([]);
});
