import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pictures } from '../../scripts/draw-charts.ts';

test.each(pictures)('docs/%s shows the machine as it is; `npm run charts` draws it again', async (file, svg) => {
  const committed = await readFile(join(import.meta.dirname, '..', '..', 'docs', file), 'utf8');
  expect(committed === svg).toBe(true);
});
