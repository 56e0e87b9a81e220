import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type as system } from 'node:os';
import { join } from 'node:path';
import { contenders, titles } from './lists.ts';
import type { Standing } from './race.ts';
import { folder, repository, versions } from './versions.ts';
import type { Workload } from './workload.ts';

export interface Results {
  date: string;
  machine: { cpu: string; cores: number; memory: string; system: string; node: string; sqlite: string };
  versions: Record<string, string>;
  workloads: Record<string, Pick<Workload, 'title' | 'about' | 'unit'> & { standings: Record<string, Standing> }>;
}

const file = join(folder, 'results.json');

const machine = (): Results['machine'] => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
  system: `${system()} ${release().split('-')[0]}`,
  node: process.version,
  sqlite: process.versions['sqlite'] ?? '',
});

export const readResults = (): Results =>
  existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Results)
    : { date: '', machine: machine(), versions: {}, workloads: {} };

const number = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toPrecision(3);
};

/** The first figure of a standing. */
export const mainFigure = (standing: Standing | undefined): number | undefined =>
  standing !== undefined && 'figures' in standing ? Object.values(standing.figures)[0] : undefined;

const tableOf = ({ title, about, unit, standings }: Results['workloads'][string]): string => {
  const base = mainFigure(standings['loop']);
  const ours = mainFigure(standings['agentchart']);
  const isOften = Object.values(standings).some((each) => 'rounds' in each && each.rounds > 1);
  const rows = Object.keys(titles).flatMap((name) => {
    const standing = standings[name];
    if (standing === undefined) return [];
    const label = titles[name] ?? name;
    if ('error' in standing) return [`| ${label} | failed: ${standing.error.replaceAll('|', '/')} | | | |`];
    if ('skipped' in standing) return [];
    const [main = NaN, ...rest] = Object.values(standing.figures);
    const others = Object.keys(standing.figures)
      .slice(1)
      .map((key, index) => `${number(rest[index] ?? NaN)} ${key}`);
    if (isOften && standing.rounds < 7) others.push(`${standing.rounds} rounds only`);
    const to = (other: number | undefined): string =>
      other === undefined || unit === 'ratio' ? '' : `${(main / other).toFixed(2)} ×`;
    return [`| ${label} | ${number(main)} | ${to(base)} | ${to(ours)} | ${others.join(', ')} |`];
  });
  const absent = contenders.names.filter((name) => {
    const standing = standings[name];
    return standing !== undefined && 'skipped' in standing;
  });
  return [
    `## ${title}`,
    '',
    about,
    '',
    `| | ${unit} | to the loop | to agentchart | |`,
    '|---|---:|---:|---:|---|',
    ...rows,
    ...(absent.length === 0
      ? []
      : ['', `Has no such thing: ${absent.map((name) => titles[name] ?? name).join(', ')}.`]),
  ].join('\n');
};

export const markdownOf = ({ date, machine: on, versions: used, workloads }: Results): string =>
  `${[
    '# Measured',
    '',
    'Written by `npm run bench`. Every contender has a process of its own for each workload and they take turns, round by round; a figure is the median of at least 7 rounds ' +
      'after 2 that do not count (memory and sizes: one). In each round a contender runs for 0.3 s to get warm, 2 s in the first, and then for 0.3 s that count, ' +
      'once at least; what its very first run took stands beside it. All get the same replies from a scripted model in their own process, run the same tool, and are checked ' +
      'in every run for the answer, the number of calls and the number of requests. Calls of one round run at the same time, up to 64.',
    '',
    `${date}: ${on.cpu}, ${on.cores} cores, ${on.memory}, ${on.system}, Node ${on.node}, SQLite ${on.sqlite}.`,
    '',
    Object.entries(used)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    '',
    Object.values(workloads).map(tableOf).join('\n\n'),
  ].join('\n')}\n`;

export const writeResults = async (results: Results): Promise<void> => {
  const all: Results = {
    ...results,
    date: new Date().toISOString().slice(0, 10),
    machine: machine(),
    versions: versions(),
  };
  writeFileSync(file, `${JSON.stringify(all, undefined, 2)}\n`);
  writeFileSync(join(folder, 'results.md'), markdownOf(all));
};

/** What the workloads of the table are called there, and their figure where it is not the first. */
const shown: Readonly<Record<string, string>> = {
  'one-answer': 'one answer, no tools',
  'rounds-50': '50 rounds of one call',
  'fan-out': '64 calls at once',
  'fan-out-20ms': '64 calls of 20 ms',
  growth: 'last 50 of 500 rounds ÷ first 50',
  deltas: 'a piece of a streamed answer',
  paused: 'a run that waits, in memory',
  resume: 'from JSON to a live run',
  'persist-300': '300 rounds, every step in SQLite',
};

const columns = ['agentchart', 'xstate-bare', 'ai-sdk', 'langchain', 'openai-agents', 'mastra', 'loop'] as const;
const kits = ['ai-sdk', 'langchain', 'openai-agents', 'mastra'] as const;
/** Where a file is written these stand in for those of the table. */
const stored: Readonly<Record<string, string>> = {
  agentchart: 'agentchart-sqlite',
  langchain: 'langchain-sqlite',
  loop: 'loop-sqlite',
};

const standingOf = (standings: Record<string, Standing>, column: string): number | undefined =>
  mainFigure(standings[column]) ?? mainFigure(standings[stored[column] ?? '']);

/** The figures side by side; the last column is ours to those of the fastest other kit. */
export const comparison = ({ date, machine: on, workloads }: Results): string => {
  const rows = Object.entries(shown).flatMap(([name, label]) => {
    const workload = workloads[name];
    if (workload === undefined) return [];
    const { standings, unit } = workload;
    const figures = columns.map((column) => standingOf(standings, column));
    const others = kits.flatMap((kit) => standingOf(standings, kit) ?? []);
    const [ours] = figures;
    const ratio = ours === undefined || others.length === 0 ? '' : `${(ours / Math.min(...others)).toFixed(2)} ×`;
    const cells = figures.map((figure) => (figure === undefined ? '–' : number(figure)));
    return [`| ${label} | ${unit} | ${cells.join(' | ')} | ${ratio} |`];
  });
  if (rows.length === 0)
    return 'Nothing is measured yet: `npm run bench` does it, `npm run bench -- --docs` writes it here.';
  return [
    `${date}, ${on.cpu}, ${on.cores} cores, Node ${on.node}. Less is better everywhere.`,
    '',
    `| | unit | ${columns.map((column) => titles[column] ?? column).join(' | ')} | to the fastest other kit |`,
    `|---|---|${columns.map(() => '---:|').join('')}---:|`,
    ...rows,
  ].join('\n');
};

const table = /(<!-- bench-table -->\n)[\s\S]*?(\n<!-- \/bench-table -->)/;

/** Puts the figures side by side between `<!-- bench-table -->` and `<!-- /bench-table -->`. */
export const fillTable = (text: string, results: Results): string =>
  text.replace(table, (_, head: string, end: string) => `${head}\n${comparison(results)}\n${end}`);

const documents = [
  'README.md',
  'docs/sessions.md',
  'docs/approvals.md',
  'docs/limits.md',
  'docs/options.md',
  'docs/machine.md',
  'docs/distributed.md',
  'docs/performance.md',
];
const place = /(<!-- bench (\S+) (\S+) (.+?) -->)[\s\S]*?(<!-- \/bench -->)/g;

/** `workload contender figure` or `workload contender/contender figure`, which is a ratio. */
export const figureOf = ({ workloads }: Results, name: string, who: string, figure: string): string => {
  const values = who.split('/').map((contender) => {
    const standing = workloads[name]?.standings[contender];
    const value = standing !== undefined && 'figures' in standing ? standing.figures[figure] : undefined;
    if (value === undefined) throw new Error(`results.json has no figure "${name} ${contender} ${figure}"`);
    return value;
  });
  const [top = NaN, bottom] = values;
  return bottom === undefined ? number(top) : (top / bottom).toFixed(top / bottom < 10 ? 1 : 0);
};

/** Fills `<!-- bench workload contender figure -->…<!-- /bench -->` in the documents. */
export const fillText = (text: string, results: Results): string =>
  text.replace(
    place,
    (_, head: string, name: string, who: string, figure: string, end: string) =>
      `${head}${figureOf(results, name, who, figure)}${end}`,
  );

export const fillDocs = (results: Results): void => {
  for (const document of documents) {
    const path = join(repository, document);
    if (!existsSync(path)) continue;
    const text = readFileSync(path, 'utf8');
    const filled = fillTable(fillText(text, results), results);
    if (filled !== text) writeFileSync(path, filled);
  }
};
