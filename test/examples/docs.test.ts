import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf } from './readme-blocks.ts';
import { type Finished, emptyFolder, fromSource, root, runExample, watch } from './run-example.ts';

/** All blocks of a page as one program, inside the package, so that it finds `agentchart` by name. */
const runPage = (page: string): Promise<Finished> => {
  const { child, finished } = watch(process.execPath, [fromSource, '--input-type=module-typescript', '-'], {
    cwd: root,
  });
  child.stdin?.end(blocksOf(`docs/${page}.md`, 'ts').join('\n'));
  return finished;
};

test.concurrent('the program of the page on streams does what is said of it', async () => {
  const { status, stdout, stderr } = await runPage('streams');
  expect(stderr).toBe('');
  expect(stdout.split('\n')).toEqual([
    'One moment.',
    'Look: ok',
    'Take a coat.',
    'answered',
    'Take a hat.',
    expect.stringMatching(/^turn 2, \d+ events told again$/),
    "Look { type: 'text', value: 'rain in Thun' }",
    '',
  ]);
  expect(status).toBe(0);
});

test.concurrent('the program of the page on servers does what is said of it', async () => {
  const { status, stdout, stderr } = await runPage('server');
  expect(stderr).toBe('');
  expect(stdout.split('\n')).toEqual([
    'ann: send-message s1',
    'ann: list-approvals s1',
    'ann: decide s1',
    'ann: join-session s1',
    'ann: decide s1',
    'true 404',
    '401',
    '',
  ]);
  expect(status).toBe(0);
});

test.concurrent('the example of a server pays what was approved', async () => {
  const { status, stdout, stderr } = await runExample('server.ts', [], { cwd: await emptyFolder() });
  expect(stderr).toBe('');
  expect(stdout.trim().split('\n')).toEqual([
    'Agent: pending',
    'You:   Pay {"to":"Mei","euros":80}? Yes, but only 8.',
    'Pay: {"type":"text","value":"8 euros are on their way to Mei"}',
    'Agent: Mei is paid.',
  ]);
  expect(status).toBe(0);
  const text = await readFile(join(root, 'examples', 'server.ts'), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});
