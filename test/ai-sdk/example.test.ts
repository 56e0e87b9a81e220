import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder, root, runExample } from '../examples/run-example.ts';

test('the example of the AI SDK asks for an approval, books, and answers', async () => {
  const { status, stdout, stderr } = await runExample('ai-sdk.ts', [], { cwd: await emptyFolder() });
  expect(stderr).toBe('');
  expect(stdout.trim().split('\n')).toEqual([
    'tool-book {"city":"Bern"}: approval-requested',
    'You:   yes',
    'tool-book {"city":"Bern"}: output-available',
    'Model: Your room in Bern is booked.',
  ]);
  expect(status).toBe(0);
});

test('it has at most 60 lines', async () => {
  const text = await readFile(join(root, 'examples', 'ai-sdk.ts'), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});
