import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import { blocksOf } from './readme-blocks.ts';
import { type Finished, emptyFolder, fromSource, root, runExample, watch } from './run-example.ts';

const ours = JSON.stringify(join(import.meta.dirname, 'my-agent.ts'));

/** The first blocks of a page, or all, as one program, inside the package, so that it finds `agentchart` by name. */
const runPage = async (
  page: string,
  { env = {}, blocks }: { env?: Record<string, string>; blocks?: number } = {},
): Promise<Finished> => {
  const file = JSON.stringify(join(await emptyFolder(), 'sessions.db'));
  const program = blocksOf(`docs/${page}.md`, 'ts')
    .slice(0, blocks)
    .join('\n')
    .replaceAll("'./sessions.db'", file)
    .replaceAll("'./my-agent.ts'", ours);
  const { child, finished } = watch(process.execPath, [fromSource, '--input-type=module-typescript', '-'], {
    cwd: root,
    env,
  });
  child.stdin?.end(program);
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

test.concurrent('the program of the page on tools does what is said of it', async () => {
  const { status, stdout, stderr } = await runPage('tools');
  expect(stderr).toBe('');
  expect(stdout).toBe('Pay in call_1_0: call_1_0-call_1_0\nAll is done.\ntrue It is 42.\n');
  expect(status).toBe(0);
});

test.concurrent('the program of the page on models does what is said of it', async () => {
  const { status, stdout, stderr } = await runPage('models', { env: { OPENAI_API_KEY: 'none' } });
  expect(stderr).toBe('');
  expect(stdout).toBe('1 messages so far\nuser: What is this? / assistant: 1 messages so far\n');
  expect(status).toBe(0);
});

test.concurrent('the program of the page on the machine does what is said of it', async () => {
  const { status, stdout, stderr } = await runPage('machine');
  expect(stderr).toBe('');
  expect(stdout).toBe('Pay: yes\npaid\n');
  expect(status).toBe(0);
});

test.concurrent('the page on sessions opens one, and deletes what is in memory', async () => {
  const { status, stderr } = await runPage('sessions', { blocks: 2 });
  expect({ status, stderr: stderr.replaceAll(/.*ExperimentalWarning: SQLite.*\n.*\n/g, '') }).toEqual({
    status: 0,
    stderr: '',
  });
});

const textOfPage = (page: string): string => readFileSync(join(root, 'docs', `${page}.md`), 'utf8');

/** The names in the first column of its tables. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) => cell.match(/[\w-]+/g) ?? []);

test('the page on errors lists every code, and no other', () => {
  const union = /AgentErrorCode =([^;]+);/.exec(readFileSync(join(root, 'src', 'errors.ts'), 'utf8'))?.[1] ?? '';
  const codes = [...union.matchAll(/'([\w-]+)'/g)].map(([, code = '']) => code);
  // Told in a sentence: they are of no call of the application.
  const inWords = ['compaction-failed', 'model-request-failed', 'model-stream-broken'];
  expect(codes.length).toBeGreaterThan(40);
  expect([...new Set([...namesIn(textOfPage('errors')), ...inWords])].toSorted()).toEqual(codes.toSorted());
});

test('the page on streams lists every event, and no other', () => {
  const events = {
    'step-start': true,
    'step-finish': true,
    'text-delta': true,
    'reasoning-delta': true,
    'tool-input-delta': true,
    usage: true,
    'tool-call': true,
    'tool-progress': true,
    'tool-result': true,
    'approval-request': true,
    'approval-response': true,
    'message-fate': true,
    transition: true,
    'loop-suspected': true,
    compaction: true,
    error: true,
    joined: true,
    finish: true,
  } satisfies Record<AgentEvent['type'], true>;
  const [, rest = ''] = textOfPage('streams').split('## The events\n');
  const [table = ''] = rest.split('\n## ');
  expect(namesIn(table).filter((name) => name !== 'type')).toEqual(Object.keys(events));
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
