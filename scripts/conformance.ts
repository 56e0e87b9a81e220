// Writes docs/conformance.md: the rules and the cases of the reference systems, and the tests that prove each.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { Row } from '../test/conformance/row.ts';
import { sections } from '../test/conformance/sections.ts';

export interface TestName {
  /** From the root of the repository. */
  file: string;
  name: string;
}

const root = join(import.meta.dirname, '..');
const idPattern = /\b(?:LC|[RLADM])\d+\b/g;
const shownTests = 2;

/** Every test of this repository by its name as it is written; nothing is run. */
export const listTests = async (): Promise<TestName[]> => {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  // Inside a test the environment is that of another vitest.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST$|NODE_OPTIONS$)/.test(name)),
  );
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, 'list', '--json'], {
    cwd: root,
    env,
    maxBuffer: 2 ** 26,
  });
  const listed = JSON.parse(stdout.slice(stdout.indexOf('['))) as TestName[];
  return listed
    .map(({ file, name }) => ({ file: relative(root, file).replaceAll('\\', '/'), name }))
    .toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
};

/** The ids that a test name carries: `R20/L16, D24: …` has three. */
export const idsIn = (name: string): string[] => name.match(idPattern) ?? [];

/** The tests that prove a row; those whose name begins with its id come first. */
const proofs = (tests: readonly TestName[]): Map<string, TestName[]> => {
  const found = new Map<string, TestName[]>();
  for (const test of tests) {
    for (const id of new Set(idsIn(test.name))) found.set(id, [...(found.get(id) ?? []), test]);
  }
  const begins = (id: string) => (test: TestName) => (titleOf(test).startsWith(id) ? 0 : 1);
  for (const [id, list] of found) {
    const rank = begins(id);
    found.set(
      id,
      list.toSorted((a, b) => rank(a) - rank(b)),
    );
  }
  return found;
};

/** The name without its groups; what each case of it has of its own is left out. */
const titleOf = ({ name }: TestName): string => (name.split(' > ').at(-1) ?? name).replaceAll(/%[sijdfo]/g, '…');

/** What is wrong with the table: rows that say nothing, ids that are there twice, test names with an id that is no row. */
export const problems = (tests: readonly TestName[]): string[] => {
  const rows = sections.flatMap((section) => section.rows);
  const proven = proofs(tests);
  const ids = new Set<string>();
  const found: string[] = [];
  for (const { id, agentchart, leftOut } of rows) {
    if (ids.has(id)) found.push(`${id} has two rows`);
    ids.add(id);
    if (!proven.has(id) && leftOut === undefined) found.push(`${id} has neither a test nor a reason why it has none`);
    if (agentchart === undefined && (proven.has(id) || leftOut === undefined)) {
      found.push(`${id} does not say what agentchart does`);
    }
  }
  for (const [id, carriers] of proven) {
    const [first] = carriers;
    if (!ids.has(id) && first !== undefined)
      found.push(`${first.file}: "${first.name}" carries ${id}, which is no row`);
  }
  return found;
};

const cell = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');

const proofCell = (tests: readonly TestName[]): string => {
  const shown = tests
    .slice(0, shownTests)
    .map((test) => `\`${test.file.replace(/^test\//, '')}\` ${cell(titleOf(test))}`);
  const more = tests.length - shown.length;
  return [...shown, ...(more > 0 ? [`+${more}`] : [])].join('<br>');
};

/** What is there without a test is only meant to be. */
const line = ({ id, reference, agentchart, why, leftOut }: Row, tests: readonly TestName[]): string => {
  const isProven = tests.length > 0;
  const reason = isProven ? (why ?? '') : [why, leftOut].filter((text) => text !== undefined).join('; ');
  const ours = agentchart === undefined ? '–' : isProven ? agentchart : `not yet: ${agentchart}`;
  const cells = [id, cell(reference), cell(ours), cell(reason), isProven ? proofCell(tests) : 'left out'];
  return `| ${cells.join(' | ')} |`;
};

const introduction = (tests: readonly TestName[]): string => {
  const rows = sections.flatMap((section) => section.rows);
  const proven = proofs(tests);
  const count = rows.filter(({ id }) => proven.has(id)).length;
  return `# Conformance

What agentchart does where two other agent runtimes have an answer of their own, and the tests that prove it. Written by
\`npm run conformance\`; a test fails when this file is not current.

The reference systems:

- **Microsoft Agent Framework** runs an agent on the function-invoking chat client of Microsoft.Extensions.AI: a decorator of a chat
  client that runs the functions a model asks for and asks the model again until it answers. The agent layer above it adds sessions, history,
  context providers, middleware and rules for approval. Its cases have the letters L (the loop), A (approvals), D (what the source
  says beyond its tests) and M (the agent layer).
- **LangChain's createAgent** builds a graph of a model node and a tools node for the LangGraph runtime, with checkpoints, interrupts and middleware. Its
  cases have the letters LC.

How to read a row: what the reference does, what agentchart does ("same": the same), and why the two differ, or why the row is left out. The
last column names the tests that carry the row's id: two of them, and how many more there are. Each test runs a real agent with a scripted
model. Numbers that are missing are not cases. Where a rule (R) and a reference disagree, the rule holds.

${rows.length} rows: ${count} proven by tests, ${rows.length - count} left out for the reason given.`;
};

/** The whole document. */
export const conformanceDocument = (tests: readonly TestName[]): string => {
  const proven = proofs(tests);
  const tables = sections.map(({ title, text, rows }) =>
    [
      `## ${title}`,
      '',
      text,
      '',
      '| id | reference | agentchart | why they differ, or why it is left out | proven by |',
      '|---|---|---|---|---|',
      ...rows.map((row) => line(row, proven.get(row.id) ?? [])),
    ].join('\n'),
  );
  return `${[introduction(tests), ...tables].join('\n\n')}\n`;
};

if (import.meta.main) {
  const tests = await listTests();
  const found = problems(tests);
  for (const problem of found) console.error(problem);
  if (found.length > 0) process.exit(1);
  writeFileSync(join(root, 'docs', 'conformance.md'), conformanceDocument(tests));
}
