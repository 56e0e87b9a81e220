import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { type Standing, median } from '../harness/race.ts';
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

const bundled = async (folder: string, { program, platform }: Kit): Promise<number> => {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: folder },
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform,
    target: 'es2023',
    external: ['zod', 'zod/*'],
    logLevel: 'silent',
    loader: { '.node': 'empty' },
  });
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
};

export const workload: Workload = {
  title: 'the package',
  about:
    'ms of the first import in a fresh process (XState alone is the floor of ours); what `npm install` of the kit, its peers and zod brings; ' +
    'the smallest program as esbuild bundles it, minified and gzipped, without zod.',
  unit: 'ms',
  prepare: async () => undefined,
  alone: async (names) => {
    const out: Record<string, Standing> = {};
    const folder = await mkdtemp(join(tmpdir(), 'bench-package-'));
    const ready: { kit: Kit; at: string; size: { count: number; bytes: number }; times: number[]; floor: number[] }[] =
      [];
    try {
      for (const kit of kits.filter(({ name }) => names.includes(name))) {
        const at = await mkdtemp(join(folder, `${kit.name}-`));
        try {
          ready.push({ kit, at, size: await install(at, kit), times: [], floor: [] });
        } catch (error) {
          out[kit.name] = { error: `does not install here: ${String(error).split('\n')[0]}` };
        }
      }
      for (let round = 0; round < 8; round += 1) {
        for (const { kit, at, times, floor } of ready) {
          const time = await importTime(at, kit.entry);
          const lowest = kit.name === 'agentchart' ? await importTime(at, 'xstate') : undefined;
          // The first reads from the disk.
          if (round === 0) continue;
          times.push(time);
          if (lowest !== undefined) floor.push(lowest);
        }
      }
      for (const { kit, at, size, times, floor } of ready) {
        const gzip = await bundled(at, kit).catch(() => undefined);
        out[kit.name] = {
          rounds: times.length,
          figures: {
            import: median(times),
            ...(floor.length === 0 ? {} : { 'ms xstate alone': median(floor) }),
            packages: size.count,
            'MB installed': size.bytes / 1e6,
            ...(gzip === undefined ? {} : { 'kB bundled': gzip / 1000 }),
          },
        };
      }
      return out;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
