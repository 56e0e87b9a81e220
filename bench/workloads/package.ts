import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type Metafile, type OutputFile, build } from 'esbuild';
import { median } from '../harness/median.ts';
import type { Standing } from '../harness/race.ts';
import { installedVersion, repository } from '../harness/versions.ts';
import type { Workload } from '../harness/workload.ts';

const run = promisify(execFile);

interface Kit {
  name: string;
  packages: readonly string[];
  /** What a user imports first. */
  entry: string;
  /** The smallest program that gives an answer; `model` stands for any model. */
  program: string;
  platform: 'browser' | 'node';
}

const model = 'const model = globalThis.model;';

const kits: readonly Kit[] = [
  {
    name: 'agentchart',
    packages: ['xstate', 'zod'],
    entry: 'agentchart',
    program: `import { createAgent } from 'agentchart'; ${model} createAgent({ model }).run('Hello').then(console.log);`,
    platform: 'browser',
  },
  {
    name: 'ai-sdk',
    packages: ['ai', 'zod'],
    entry: 'ai',
    program: `import { generateText } from 'ai'; ${model} generateText({ model, prompt: 'Hello' }).then(console.log);`,
    platform: 'node',
  },
  {
    name: 'langchain',
    packages: ['langchain', '@langchain/core', '@langchain/langgraph', 'zod'],
    entry: 'langchain',
    program: `import { createAgent } from 'langchain'; ${model} createAgent({ model, tools: [] }).invoke({ messages: [] }).then(console.log);`,
    platform: 'node',
  },
  {
    name: 'openai-agents',
    packages: ['@openai/agents', 'zod'],
    entry: '@openai/agents',
    program: `import { Agent, run } from '@openai/agents'; ${model} run(new Agent({ name: 'a', model }), 'Hello').then(console.log);`,
    platform: 'node',
  },
  {
    name: 'mastra',
    packages: ['@mastra/core', 'zod'],
    entry: '@mastra/core/agent',
    program: `import { Agent } from '@mastra/core/agent'; ${model} new Agent({ id: 'a', name: 'a', instructions: '', model }).generate('Hello').then(console.log);`,
    platform: 'node',
  },
];

const npm = (folder: string, ...given: string[]) =>
  run('npm', [...given, '--no-audit', '--no-fund'], { cwd: folder, maxBuffer: 2 ** 26 });

const sizeOf = async (folder: string): Promise<number> => {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files.filter((file) => file.isFile()).map(async (file) => (await stat(join(file.parentPath, file.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};

const install = async (folder: string, { name, packages }: Kit): Promise<{ count: number; bytes: number }> => {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const wanted = packages.map((each) => `${each}@${installedVersion(each) ?? 'latest'}`);
  if (name === 'agentchart') {
    const { stdout } = await npm(repository, 'pack', '--silent', '--pack-destination', folder);
    wanted.push(`./${stdout.trim().split('\n').at(-1) ?? ''}`);
  }
  await npm(folder, 'install', '--omit=dev', '--ignore-scripts', ...wanted);
  const lock = await readFile(join(folder, 'node_modules', '.package-lock.json'), 'utf8');
  const count = Object.keys((JSON.parse(lock) as { packages: object }).packages).length;
  return { count, bytes: await sizeOf(join(folder, 'node_modules')) };
};

/** ms of the first `import` in a fresh process. */
const importTime = async (folder: string, entry: string): Promise<number> => {
  const text = `const t = performance.now(); await import('${entry}'); console.log(performance.now() - t); process.exit(0);`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', text], { cwd: folder });
  return Number(stdout.trim().split('\n').at(-1));
};

interface Bundled {
  /** Bytes of one file that holds all. */
  whole: number;
  /** Bytes of what is loaded before the program runs, where the bundler makes a file of each lazy import. */
  first: number;
}

const gzipped = ({ contents }: OutputFile): number => gzipSync(contents, { level: 9 }).length;

/** The files that are loaded before anything runs. */
const loadedAtOnce = (outputs: Metafile['outputs']): Set<string> => {
  const found = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>'));
  // A set goes on to what is added while it is walked through.
  for (const path of found)
    for (const { kind, path: next } of outputs[path]?.imports ?? []) if (kind === 'import-statement') found.add(next);
  return new Set([...found].map((path) => basename(path)));
};

const bundled = async (folder: string, { program, platform }: Kit): Promise<Bundled> => {
  const pack = (splitting: boolean) =>
    build({
      stdin: { contents: program, resolveDir: folder },
      absWorkingDir: folder,
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      splitting,
      outdir: 'out',
      format: 'esm',
      platform,
      target: 'es2023',
      external: ['zod', 'zod/*'],
      logLevel: 'silent',
      loader: { '.node': 'empty' },
    });
  const whole = await pack(false);
  const { outputFiles, metafile } = await pack(true);
  const first = loadedAtOnce(metafile.outputs);
  const sum = (files: readonly OutputFile[]): number => files.reduce((bytes, file) => bytes + gzipped(file), 0);
  return { whole: sum(whole.outputFiles), first: sum(outputFiles.filter(({ path }) => first.has(basename(path)))) };
};

const empty = 'data:text/javascript,';

interface Ready {
  kit: Kit;
  at: string;
  size: { count: number; bytes: number };
  times: number[];
  /** Of ours: what nothing could be faster than. */
  floors: Record<string, number[]>;
}

export const workload: Workload = {
  title: 'the package',
  about:
    'ms of the first import in a fresh process (XState alone, and an empty module, are the floor of ours); what `npm install` of the kit, its peers ' +
    'and zod brings; the smallest program as esbuild bundles it, minified and gzipped, without zod: as one file, and what is loaded at first where ' +
    'lazy imports are files of their own. Ours is bundled for a browser, the others for Node, since they need it.',
  unit: 'ms',
  prepare: async () => undefined,
  alone: async (names) => {
    const out: Record<string, Standing> = {};
    const folder = await mkdtemp(join(tmpdir(), 'bench-package-'));
    const ready: Ready[] = [];
    try {
      for (const kit of kits.filter(({ name }) => names.includes(name))) {
        const at = await mkdtemp(join(folder, `${kit.name}-`));
        try {
          ready.push({ kit, at, size: await install(at, kit), times: [], floors: { xstate: [], [empty]: [] } });
        } catch (error) {
          out[kit.name] = { error: `does not install here: ${String(error).split('\n')[0]}` };
        }
      }
      for (let round = 0; round < 21; round += 1) {
        for (const { kit, at, times, floors } of ready) {
          // The first reads from the disk.
          const isWarm = round > 0;
          const time = await importTime(at, kit.entry);
          if (isWarm) times.push(time);
          if (kit.name !== 'agentchart') continue;
          for (const [entry, found] of Object.entries(floors)) {
            const lowest = await importTime(at, entry);
            if (isWarm) found.push(lowest);
          }
        }
      }
      for (const { kit, at, size, times, floors } of ready) {
        const gzip = await bundled(at, kit).catch(() => undefined);
        const { xstate = [], [empty]: nothing = [] } = floors;
        out[kit.name] = {
          rounds: times.length,
          figures: {
            import: median(times),
            ...(xstate.length === 0 ? {} : { 'ms xstate alone': median(xstate), 'ms empty module': median(nothing) }),
            packages: size.count,
            'MB installed': size.bytes / 1e6,
            ...(gzip === undefined ? {} : { 'kB bundled': gzip.whole / 1000, 'kB at first': gzip.first / 1000 }),
          },
        };
      }
      return out;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
