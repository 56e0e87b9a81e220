import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestName, conformanceDocument, idsIn, listTests, problems } from '../../scripts/conformance.ts';

describe('the table of conformance', () => {
  let tests: TestName[] = [];
  beforeAll(async () => {
    tests = await listTests();
  });

  test('every row has a test or a reason, and every id in a test name is a row', () => {
    expect(tests.length).toBeGreaterThan(500);
    expect(problems(tests)).toEqual([]);
  });

  test('docs/conformance.md is current; `npm run conformance` writes it again', async () => {
    const written = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'conformance.md'), 'utf8');
    const current = conformanceDocument(tests);
    const stale = current.split('\n').filter((line) => !written.includes(line));
    expect(stale).toEqual([]);
    expect(written === current).toBe(true);
  });

  test('a row without a test and a name without a row are found', () => {
    expect(problems([])).toContainEqual(expect.stringMatching(/^\w+ has neither a test nor a reason/));
    // Put together here, so that no name in this file carries it.
    const unknown = `L${900}`;
    expect(problems([{ file: 'x.test.ts', name: `${unknown}: x` }])).toContain(
      `x.test.ts: "${unknown}: x" carries ${unknown}, which is no row`,
    );
  });
});

test('the ids in a name are found wherever they stand', () => {
  const name = ['R', 'L', 'LC', 'D'].map((letter, index) => `${letter}${index + 1}`).join('/');
  expect(idsIn(`${name}: text (better) > GPT4 and B12`)).toEqual(name.split('/'));
});
