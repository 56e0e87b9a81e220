import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { contender as ours } from '../../bench/contenders/agentchart.ts';
import { contender as stored } from '../../bench/contenders/agentchart-sqlite.ts';
import { contender as loop } from '../../bench/contenders/loop.ts';
import { contender as bare } from '../../bench/contenders/xstate-bare.ts';
import { contenders, workloads } from '../../bench/harness/lists.ts';
import { type Results, comparison, fillTable, fillText, markdownOf, readResults } from '../../bench/harness/results.ts';

// Ten thousand sessions, an installation and an engine are for the bench itself.
const short = workloads.names.filter((name) => !/^(paused|waiting-rows|package|persist-1000|restate-.*)$/.test(name));

test.each(short)('the workload %s runs and is checked for our own contenders', async (name) => {
  const workload = await workloads.load(name);
  const sample = await workload.prepare(/^(persist|open|waiting)/.test(name) ? stored : ours);
  const figures = Object.values((await sample?.()) ?? {});
  expect(figures.length).toBeGreaterThan(0);
  for (const figure of figures) expect(figure).toBeGreaterThan(0);
  for (const other of [loop, bare]) await (await workload.prepare(other))?.();
});

const results = (ms: number): Results => ({
  date: '2026-01-02',
  machine: { cpu: 'a processor', cores: 2, memory: '8 GiB', system: 'Linux 6', node: 'v24.0.0', sqlite: '3.50' },
  versions: { agentchart: '1.0.0' },
  workloads: {
    one: {
      title: 'one answer',
      about: 'A question and its answer.',
      unit: 'ms',
      standings: {
        loop: { rounds: 7, figures: { time: 0.5 } },
        agentchart: { rounds: 7, figures: { time: ms } },
        'ai-sdk': { error: 'it did not install' },
        mastra: { skipped: true },
      },
    },
  },
});

test('a figure in a document comes from the results, and so does a ratio', () => {
  const text =
    'about <!-- bench one agentchart time -->?<!-- /bench --> ms, <!-- bench one agentchart/loop time -->?<!-- /bench --> times';
  expect(fillText(text, results(2))).toBe(
    'about <!-- bench one agentchart time -->2.00<!-- /bench --> ms, <!-- bench one agentchart/loop time -->4.0<!-- /bench --> times',
  );
  expect(() => fillText('<!-- bench two agentchart time --><!-- /bench -->', results(2))).toThrow(/no figure "two/);
});

test('a contender that failed stands in the table with its reason', () => {
  const table = markdownOf(results(2));
  expect(table).toContain('| agentchart | 2.00 | 4.00 × | 1.00 × |');
  expect(table).toContain('| ai | failed: it did not install |');
  expect(table).toContain('Has no such thing: @mastra/core.');
});

test('the table compares ours with the fastest other kit', () => {
  const { workloads: given, ...rest } = results(2);
  const one = { ...given['one'], standings: { ...given['one']?.standings } } as Results['workloads'][string];
  const standings = {
    ...one.standings,
    'ai-sdk': { rounds: 7, figures: { time: 4 } },
    langchain: { rounds: 7, figures: { time: 8 } },
  };
  const text = comparison({ ...rest, workloads: { 'one-answer': { ...one, standings } } });
  expect(text).toContain('| one answer, no tools | ms | 2.00 | – | 4.00 | 8.00 | – | – | 0.500 | 0.50 × |');
});

test('the figures in the document are those of the last measurement', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/performance.md'), 'utf8');
  expect(text).toContain('<!-- bench-table -->');
  expect(text).toBe(fillTable(text, readResults()));
});

const bench = join(import.meta.dirname, '../../bench');

const runBench = async (...args: string[]): Promise<{ stdout: string; stderr: string; status: number | null }> => {
  const child = spawn(process.execPath, [join(bench, 'run.ts'), ...args], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { stdout, stderr, status };
};

test.concurrent.each([
  [['nope'], /^there is no workload "nope"; known: deltas, .*\n$/],
  [['--only', 'loop,nope'], /^there is no contender "nope"; known: loop, loop-sqlite, .*\n$/],
  [['--rounds', 'x'], /^--rounds must be a whole number from 1 on, not x\n$/],
  [['--fast'], /^Unknown option '--fast'[^]*npm run bench -- \[workload …\]/],
])('the bench refuses %j in words, with what it knows', async (args, message) => {
  const { stdout, stderr, status } = await runBench(...args);
  expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('    at ');
});

test.concurrent('the bench says how it is used, and its page names each workload and contender', async () => {
  const { stdout, stderr, status } = await runBench('--help');
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  const page = readFileSync(join(bench, 'README.md'), 'utf8');
  for (const name of [...workloads.names, ...contenders.names]) {
    expect(stdout).toContain(name);
    expect(page).toContain(`\`${name}\``);
  }
});

test.concurrent('our own contenders race without an installation', async () => {
  const { stdout, stderr, status } = await runBench(
    'one-answer',
    '--only',
    contenders.own.slice(0, 1).join(),
    '--rounds',
    '1',
  );
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  expect(stdout).toMatch(/^\none answer \(ms\)\n {2}hand-written loop +time [\d.e-]+, .*\n$/);
});
