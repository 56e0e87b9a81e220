import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const source = join(root, 'src');
const pipeline = join(source, 'sessions', 'pipeline.ts');

const bundle = (contents: string, options: BuildOptions) =>
  build({
    stdin: { contents, resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    conditions: ['agentchart-source', 'module'],
    external: ['node:*'],
    logLevel: 'silent',
    ...options,
    metafile: true,
  });

/** The files of the source that a page loads before anything of a program runs. */
const loadedAtOnce = async (contents: string): Promise<string[]> => {
  const { metafile } = await bundle(contents, { platform: 'browser', splitting: true, write: false, outdir: 'out' });
  const { outputs } = metafile;
  const found = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>'));
  for (const path of found)
    for (const { kind, path: next } of outputs[path]?.imports ?? []) if (kind === 'import-statement') found.add(next);
  return [...found].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {})).map((path) => join(root, path));
};

/** What the pipeline is made of, and what comes with no part of it but those. */
const partsOfPipeline = async (): Promise<string[]> => {
  const text = await readFile(pipeline, 'utf8');
  return [...text.matchAll(/from '\.\/([\w-]+\.ts)'/g)].map(([, name = '']) => join(source, 'sessions', name));
};

test('no part of the pipeline is imported with the core', async () => {
  const parts = await partsOfPipeline();
  expect(parts.map((path) => basename(path, '.ts'))).toEqual(
    expect.arrayContaining(['ask-providers', 'prepare-request', 'tell-turn', 'turn-so-far']),
  );
  const others = ['compact-conversation', 'check-provided'];
  const core = await loadedAtOnce(`export { createAgent, tool } from './src/index.ts';`);
  expect(core).toContain(join(source, 'sessions', 'create-agent.ts'));
  const late = [pipeline, ...parts, ...others.map((name) => join(source, 'sessions', `${name}.ts`))];
  expect(core.filter((path) => late.includes(path))).toEqual([]);
  const folders = ['compaction', 'middleware', 'otel'].map((name) => join(source, name));
  expect(core.filter((path) => folders.some((folder) => path.startsWith(folder)))).toEqual([]);
});

/** An agent that comes to need each part of the pipeline: what its turns came to. */
const program = `
  import { createAgent } from './src/index.ts';
  import { scriptedModel } from './src/testing/index.ts';
  const model = scriptedModel(['one', 'two']);
  const compact = ({ messages }) => ({ messages, by: [] });
  const provider = { name: 'p', beforeTurn: () => ({ instructions: 'be brief' }) };
  const agent = createAgent({ model, compaction: { compact }, contextProviders: [provider] });
  const session = await agent.open('s');
  const told = [];
  const turn = async (run) => {
    const outcome = await run().then(({ text }) => text, ({ code, message }) => code + ': ' + message);
    const events = [];
    const late = await (async () => { for await (const { type } of session.stream()) events.push(type); })()
      .then(() => events.at(-1), ({ code }) => code);
    told.push({ outcome, late });
  };
  await turn(() => agent.run('Hi', { session: 's' }));
  await globalThis.between?.();
  await turn(async () => { if (session.status === 'settled' && told[0].outcome !== 'one') await session.retry(); return session.settled(); });
  process.stdout.write(JSON.stringify(told));`;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-static-'));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

const run = async (file: string, before = ''): Promise<unknown> => {
  const start = join(folder, 'start.mjs');
  await writeFile(start, `${before}\nawait import(${JSON.stringify(`./${file}`)});`);
  const { stdout } = await promisify(execFile)(process.execPath, [start], { cwd: folder });
  return JSON.parse(stdout);
};

const pack = (name: string, splitting: boolean, contents = program) =>
  bundle(contents, {
    platform: 'node',
    splitting,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    entryNames: name,
    stdin: { contents, resolveDir: root, sourcefile: `${name}.ts` },
  });

test('a part that cannot be loaded ends the turn and says so, and a retry loads it again', async () => {
  await pack('split', true);
  const part = (await readdir(folder)).find((name) => name.startsWith('pipeline-')) ?? 'none';
  await rename(join(folder, part), join(folder, 'away'));
  const back = `
    import { renameSync } from 'node:fs';
    globalThis.between = () => renameSync('away', ${JSON.stringify(part)});`;
  expect(await run('split.mjs', back)).toEqual([
    {
      outcome: expect.stringMatching(/^load-failed: the pipeline of agentchart could not be loaded: /),
      late: 'load-failed',
    },
    { outcome: 'one', late: 'finish' },
  ]);
});

test('an agent whose options need it has it before it is first asked for: by then nobody may be able to read it', async () => {
  const contents = `
    import { createAgent } from './src/index.ts';
    import { scriptedModel } from './src/testing/index.ts';
    const agent = createAgent({ model: scriptedModel(['one']), compaction: { compact: ({ messages }) => ({ messages, by: [] }) } });
    await globalThis.between();
    process.stdout.write(JSON.stringify((await agent.run('Hi')).text));`;
  await pack('early', true, contents);
  const parts = (await readdir(folder)).filter((name) => name.startsWith('pipeline-'));
  expect(parts.length).toBeGreaterThan(0);
  const away = `
    import { renameSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    const read = Promise.withResolvers();
    registerHooks({
      load: (url, context, next) => {
        const loaded = next(url, context);
        if (url.includes('/pipeline-')) read.resolve();
        return loaded;
      },
    });
    globalThis.between = async () => {
      await read.promise;
      for (const part of ${JSON.stringify(parts)}) renameSync(part, part + '.away');
    };`;
  expect(await run('early.mjs', away)).toBe('one');
});

test('a bundle of one file has it all', async () => {
  await pack('whole', false);
  expect((await readdir(folder)).filter((name) => name.startsWith('whole'))).toEqual(['whole.mjs']);
  expect(await run('whole.mjs')).toEqual([
    { outcome: 'one', late: 'finish' },
    { outcome: 'one', late: 'finish' },
  ]);
});
