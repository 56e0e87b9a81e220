// Changes the charts one guard or comparison at a time and runs the tests of the loop on each: a change that no test notices is
// a survivor. `node scripts/mutate.ts [part of a name]`; all of them take an hour on two cores.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

interface Mutant {
  name: string;
  file: string;
  text: string;
}

const root = resolve(import.meta.dirname, '..');
const machines = join('src', 'machines');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Each guard of a file by name, with the text of its definition. */
const guardsOf = (text: string): { name: string; block: string }[] => {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => /^\s+guards: \{$/.test(line));
  if (first === -1) return [];
  const indent = `${/^\s+/.exec(lines[first] ?? '')?.[0] ?? ''}  `;
  const found: { name: string; block: string }[] = [];
  let current: string[] = [];
  let name = '';
  for (const line of lines.slice(first + 1)) {
    const isDeeper =
      line.startsWith(`${indent} `) || line === '' || line.startsWith(`${indent})`) || line.startsWith(`${indent}}`);
    if (!isDeeper && name !== '') {
      found.push({ name, block: current.join('\n') });
      name = '';
    }
    if (!line.startsWith(indent) && line !== '') break;
    const start = new RegExp(`^${indent}(\\w+): `).exec(line);
    if (start !== null && !isDeeper) {
      name = start[1] ?? '';
      current = [line];
    } else if (name !== '') {
      current.push(line);
    }
  }
  return found;
};

const guardMutants = (file: string): Mutant[] => {
  const text = read(file);
  return guardsOf(text).flatMap(({ name, block }) => {
    const body = block.slice(block.indexOf(':') + 1).replace(/,\s*$/, '');
    const inverted = `((guard: (...given: never[]) => boolean) => (...given: never[]) => !guard(...given))(${body})`;
    return [
      ['is removed', '() => true'],
      ['is inverted', inverted],
    ].map(([how, code]) => ({
      name: `${file}: guard ${name} ${how}`,
      file,
      text: text.replace(block, `${name}: ${code},`),
    }));
  });
};

const turned: Record<string, string> = { '>': '>=', '>=': '>', '<': '<=', '<=': '<', '===': '!==', '!==': '===' };

const comparisonMutants = (file: string): Mutant[] => {
  const text = read(file);
  const code = text.replaceAll(/\/\*\*[\s\S]*?\*\/|\/\/.*/g, (comment) => ' '.repeat(comment.length));
  return [...code.matchAll(/ (>=|<=|>|<) (?=[\w(-])/g)].map((match) => {
    const operator = match[1] ?? '';
    const at = match.index + 1;
    const line = text.slice(0, at).split('\n').length;
    return {
      name: `${file}:${line}: ${operator} becomes ${turned[operator]}`,
      file,
      text: text.slice(0, at) + turned[operator] + text.slice(at + operator.length),
    };
  });
};

const files = readdirSync(join(root, machines)).map((name) => join(machines, name));
const wanted = process.argv[2] ?? '';
const mutants = files
  .flatMap((file) => [...guardMutants(file), ...comparisonMutants(file)])
  .filter(({ name }) => name.includes(wanted));

const copy = mkdtempSync(join(tmpdir(), 'mutants-'));
for (const part of ['src', 'test', 'docs', 'scripts', 'package.json', 'vitest.config.ts', 'tsconfig.json']) {
  cpSync(join(root, part), join(copy, part), { recursive: true });
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs');
/** A change can make a test loop for ever: what takes too long is ended with all of its workers, and counts as noticed. */
const passesIn = (...suites: string[]): Promise<boolean> =>
  new Promise((resolve) => {
    const names = suites.map((name) => `test/${name}`);
    const args = [
      vitest,
      'run',
      '--bail=1',
      '--reporter=dot',
      '--testTimeout=5000',
      '--exclude=**/conformance.test.ts',
      ...names,
    ];
    const running = spawn(process.execPath, args, { cwd: copy, detached: true, stdio: 'ignore' });
    const end = (): void => {
      if (running.pid !== undefined) process.kill(-running.pid, 'SIGKILL');
    };
    const timer = setTimeout(end, 100_000);
    running.on('exit', (code) => {
      clearTimeout(timer);
      resolve(code === 0);
    });
  });
// The quick ones first: most changes are noticed there.
const passes = async (): Promise<boolean> =>
  (await passesIn('machines', 'scenarios')) &&
  (await passesIn('features', 'pipeline')) &&
  (await passesIn('cases', 'sessions', 'properties'));

if (!(await passes())) throw new Error('the tests fail without any change');
const survivors: string[] = [];
for (const [index, { name, file, text }] of mutants.entries()) {
  writeFileSync(join(copy, file), text);
  const survived = await passes();
  writeFileSync(join(copy, file), read(file));
  if (survived) survivors.push(name);
  process.stdout.write(`${index + 1}/${mutants.length} ${survived ? 'SURVIVED' : 'noticed '} ${name}\n`);
}
rmSync(copy, { recursive: true, force: true });

const score = ((mutants.length - survivors.length) / mutants.length) * 100;
process.stdout.write(
  `\n${score.toFixed(1)} % of ${mutants.length} changes noticed; survivors:\n${survivors.join('\n')}\n`,
);
