import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, type Metafile, build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf } from '../examples/readme-blocks.ts';

const root = join(import.meta.dirname, '..', '..');
const subpaths = [
  'agentchart',
  'agentchart/openai',
  'agentchart/ai-sdk',
  'agentchart/mcp',
  'agentchart/sqlite',
  'agentchart/middleware',
  'agentchart/otel',
  'agentchart/compaction',
  'agentchart/server',
  'agentchart/testing',
  'agentchart/inspector',
];

let folder = '';
let app = '';

const run = async (command: string, args: string[], cwd: string): Promise<string> => {
  const env = { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const running = promisify(execFile)(command, args, { cwd, env, shell: process.platform === 'win32' });
  const { stdout } = await running.catch((error: { message: string; stdout: string }) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
  return stdout;
};

/** What the package depends on, as it is installed here; npm is told that it is there already, and gets nothing from a registry. */
const dependencies = ['openai', 'xstate', 'zod'];
const placesOf = (name: string): [from: string, to: string] => [
  join(root, 'node_modules', name),
  join(app, 'node_modules', name),
];

/** A copy of what is packed, with a build of its own: `dist` of the checkout stays as it is. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-pack-'));
  app = join(folder, 'app');
  await run(process.execPath, [join(root, 'scripts', 'build.ts'), join(folder, 'source', 'dist')], root);
  for (const file of ['package.json', 'CHANGELOG.md', 'LICENSE', 'README.md', 'docs', 'examples']) {
    await cp(join(root, file), join(folder, 'source', file), { recursive: true });
  }
  const packed = await run('npm', ['pack', './source', '--json', '--ignore-scripts'], folder);
  const tarball = /agentchart-[\w.-]+\.tgz/.exec(packed)?.[0] ?? 'no tarball';
  await cp(join(folder, tarball), join(app, tarball));
  await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
  // For what npm decides a manifest is enough; what is loaded later are the files that it describes.
  for (const [from, to] of dependencies.map(placesOf)) await cp(join(from, 'package.json'), join(to, 'package.json'));
  await run('npm', ['install', `./${tarball}`, '--offline', '--no-audit', '--no-fund', '--ignore-scripts'], app);
  for (const [from, to] of dependencies.map(placesOf)) {
    await rm(to, { recursive: true });
    await symlink(from, to, 'junction');
  }
  // What a user of `agentchart/otel` has.
  const api = join('node_modules', '@opentelemetry', 'api');
  await cp(join(root, api), join(app, api), { recursive: true });
}, 240_000);

afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

/** A program as esbuild packs it for a browser. */
const bundle = (contents: string, options: BuildOptions = {}) =>
  build({
    stdin: { contents, resolveDir: app },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    logLevel: 'silent',
    ...options,
    write: false,
  });

/** The names of the files that a page loads before anything of the program runs. */
const loadedAtOnce = (outputs: Metafile['outputs']): Set<string> => {
  const found = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>'));
  for (const path of found)
    for (const { kind, path: next } of outputs[path]?.imports ?? []) if (kind === 'import-statement') found.add(next);
  return new Set([...found].map((path) => basename(path)));
};

interface Loaded {
  exports: string[];
  /** Of every module that came with it. */
  urls: string[];
}

const load = async (specifier: string): Promise<Loaded> => {
  await writeFile(
    join(app, 'main.mjs'),
    `import { registerHooks } from 'node:module';
     const urls = [];
     registerHooks({ resolve: (name, context, next) => { const found = next(name, context); urls.push(found.url); return found; } });
     const module = await import(${JSON.stringify(specifier)});
     process.stdout.write(JSON.stringify({ exports: Object.keys(module), urls }));`,
  );
  return JSON.parse(await run(process.execPath, ['main.mjs'], app));
};

const loads = new Map<string, Promise<Loaded>>();

/** What comes with a module, in a process of its own; loaded once for all tests. */
const loadedBy = (specifier: string): Promise<Loaded> => {
  const loading = loads.get(specifier) ?? load(specifier);
  loads.set(specifier, loading);
  return loading;
};

const packagesOf = (urls: string[]): string[] =>
  [...new Set(urls.map((url) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? url))].toSorted();

test.each(subpaths)('%s loads from the tarball and exports something', async (specifier) => {
  const { exports } = await loadedBy(specifier);
  expect(exports).not.toEqual([]);
});

test('agentchart/postgres loads where pg is installed', async () => {
  const link = join(app, 'node_modules', 'pg');
  await symlink(join(root, 'node_modules', 'pg'), link, 'junction');
  try {
    expect((await loadedBy('agentchart/postgres')).exports).toEqual(['postgresStore']);
  } finally {
    await rm(link);
  }
});

test('agentchart/restate loads where the SDK of Restate is installed', async () => {
  const link = join(app, 'node_modules', '@restatedev');
  await symlink(join(root, 'node_modules', '@restatedev'), link, 'junction');
  try {
    expect((await loadedBy('agentchart/restate')).exports).toEqual([
      'followWorkers',
      'restateSessions',
      'restateWorker',
    ]);
  } finally {
    await rm(link);
  }
});

test('the core loads only itself and xstate, nothing of Node, and few files', async () => {
  const { urls } = await loadedBy('agentchart');
  expect(packagesOf(urls)).toEqual(['agentchart', 'xstate']);
  expect(new Set(urls.filter((url) => url.includes('/agentchart/dist/'))).size).toBeLessThanOrEqual(6);
});

test('the errors that sessions throw are instances of the classes that the core exports', async () => {
  await writeFile(
    join(app, 'errors.mjs'),
    `import { AgentError, ModelError, SessionConflictError, TurnError, createAgent, memoryStore } from 'agentchart';
     let asked = 0;
     const generate = () => (asked++, Promise.reject(new ModelError('model-request-failed', 'try again', { transient: true })));
     const model = { name: 'broken', generate };
     const store = memoryStore();
     const agent = createAgent({ model, store, retry: { attempts: 2, initialDelay: 1 } });
     const failed = await agent.run('Hi', { session: 's' }).catch((error) => error);
     const read = store.read;
     const commit = () => Promise.reject(new SessionConflictError('s'));
     const raced = createAgent({ model, store: { ...store, durable: true, read, commit } });
     const lost = await raced.run('Hi', { session: 's' }).catch((error) => error);
     const refused = await agent.open('nothing', { readOnly: true }).catch((error) => error);
     const kinds = [failed instanceof TurnError, asked > 1, lost instanceof SessionConflictError, refused instanceof AgentError];
     process.stdout.write(JSON.stringify([...kinds, refused.code]));`,
  );
  const told = JSON.parse(await run(process.execPath, ['errors.mjs'], app));
  expect(told).toEqual([true, true, true, true, 'unknown-session']);
});

test('openai and OpenTelemetry are loaded by their own subpaths only, pg and node:sqlite by none of these', async () => {
  for (const specifier of subpaths) {
    const packages = packagesOf((await loadedBy(specifier)).urls);
    expect(packages.includes('openai')).toBe(specifier === 'agentchart/openai');
    expect(packages.includes('@opentelemetry/api')).toBe(specifier === 'agentchart/otel');
    expect(packages.filter((name) => name === 'pg' || name === 'node:sqlite')).toEqual([]);
  }
});

test('the core comes without the files of what it loads later', async () => {
  const { urls } = await loadedBy('agentchart');
  const names = urls.flatMap((url) => /agentchart\/dist\/(.+)\.js$/.exec(url)?.[1] ?? []);
  expect([...new Set(names)].toSorted()).toEqual(['chunks/base', 'chunks/core', 'chunks/light', 'index']);
});

test('the middleware comes without a package that users would have to install', async () => {
  const { urls } = await loadedBy('agentchart/middleware');
  expect(packagesOf(urls)).toEqual(['agentchart']);
});

test('the inspector draws without a package that users would have to install', async () => {
  const { urls } = await loadedBy('agentchart/inspector');
  const isOwn = (name: string): boolean => name === 'agentchart' || name === 'xstate' || name.startsWith('node:');
  expect(packagesOf(urls).filter((name) => !isOwn(name))).toEqual([]);
});

test('a store that is given as a path is there in Node, and no bundle for browsers has its code', async () => {
  await writeFile(
    join(app, 'path.mjs'),
    `import { createAgent } from 'agentchart';
     import { scriptedModel } from 'agentchart/testing';
     const agent = createAgent({ model: scriptedModel(['Hello.']), store: 'sessions.db' });
     process.stdout.write((await agent.run('Hi', { session: 'kept' })).text);
     await agent.close();`,
  );
  expect(await run(process.execPath, ['path.mjs'], app)).toBe('Hello.');
  const { outputFiles } = await bundle(`export { createAgent } from 'agentchart';`);
  expect(outputFiles.map(({ text }) => text).join('')).not.toContain('pragma');
});

test('the inspector serves its page from the tarball, and a browser gets the rest of it', async () => {
  await writeFile(
    join(app, 'serve.mjs'),
    `import { startInspector } from 'agentchart/inspector';
     const inspector = await startInspector();
     const types = [];
     for (const path of ['/', '/page.js', '/page.css']) {
       const response = await fetch(new URL(path, inspector.url));
       types.push([response.status, response.headers.get('content-type'), (await response.text()).length > 300]);
     }
     await inspector.close();
     process.stdout.write(JSON.stringify(types));`,
  );
  expect(JSON.parse(await run(process.execPath, ['serve.mjs'], app))).toEqual([
    [200, 'text/html; charset=utf-8', true],
    [200, 'text/javascript; charset=utf-8', true],
    [200, 'text/css; charset=utf-8', true],
  ]);
});

test('installing it brings four packages at most', async () => {
  const lock = JSON.parse(await readFile(join(app, 'package-lock.json'), 'utf8'));
  const names = Object.keys(lock.packages).filter((path) => path !== '');
  expect(names.length).toBeLessThanOrEqual(4);
});

test('the tarball holds the build, the documents, the examples and the licence, and no source', async () => {
  const installed = join(app, 'node_modules', 'agentchart');
  const files = await readdir(installed);
  expect(files.toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'docs',
    'examples',
    'package.json',
  ]);
  const built = await readdir(join(installed, 'dist'), { recursive: true });
  expect(built.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([]);
});

const pagesIn = async (place: string): Promise<string[]> => {
  const docs = await readdir(join(place, 'docs'));
  return ['README.md', ...docs.filter((file) => file.endsWith('.md')).map((file) => join('docs', file))];
};

test('whatever the README and the documents link to or show is in the tarball', async () => {
  const installed = join(app, 'node_modules', 'agentchart');
  const links: string[] = [];
  for (const page of await pagesIn(installed)) {
    const text = await readFile(join(installed, page), 'utf8');
    for (const [, link = ''] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)) links.push(join(dirname(page), link));
  }
  expect(links).toEqual(expect.arrayContaining(['docs/sessions.md', 'docs/agent.svg', 'examples/weather.ts']));
  const missing = links.filter((link) => !existsSync(join(installed, link)));
  expect(missing).toEqual([]);
});

/** What the pages take for granted: a module of the reader's own. */
const readersOwn = {
  'package.json': '{ "type": "module" }',
  'my-agent.ts': `
    import { createAgent, tool } from 'agentchart';
    import { scriptedModel } from 'agentchart/testing';
    import { z } from 'zod';
    export const model = scriptedModel([]);
    export const tools = [tool({ name: 'pay', inputSchema: z.object({ to: z.string() }), execute: () => 'paid' })];
    export const agent = createAgent({ model, tools });`,
  'my-store.ts': `
    import { memoryStore } from 'agentchart';
    export const myStore = (_place: string) => memoryStore();`,
};

test('the programs of the README and of every document fit the types that are installed', async () => {
  const reader = join(folder, 'reader');
  const modules = join(reader, 'node_modules');
  await mkdir(modules, { recursive: true });
  for (const name of await readdir(join(root, 'node_modules')))
    await symlink(join(root, 'node_modules', name), join(modules, name), 'junction');
  await symlink(join(app, 'node_modules', 'agentchart'), join(modules, 'agentchart'), 'junction');
  for (const [name, text] of Object.entries(readersOwn)) await writeFile(join(reader, name), text);
  const programs: string[] = [];
  for (const page of await pagesIn(root)) {
    const blocks = blocksOf(page, 'ts');
    if (blocks.length === 0) continue;
    programs.push(`${basename(page, '.md')}.ts`);
    await writeFile(join(reader, programs.at(-1) ?? ''), `${blocks.join('\n')}\nexport {};\n`);
  }
  expect(programs).toEqual(expect.arrayContaining(['README.ts', 'inspector.ts', 'sessions.ts']));
  const { compilerOptions } = JSON.parse(await readFile(join(root, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: object;
  };
  const own = { customConditions: [], noUnusedLocals: false, preserveSymlinks: true };
  const config = { compilerOptions: { ...compilerOptions, ...own }, files: programs };
  await writeFile(join(reader, 'tsconfig.json'), JSON.stringify(config));
  await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', reader], reader);
});

const forBrowsers = ['', '/openai', '/middleware', '/otel', '/compaction', '/inspector', '/sqlite'].map(
  (path) => `agentchart${path}`,
);

test.each(forBrowsers)('esbuild bundles %s for the browser', async (specifier) => {
  const { errors, warnings } = await bundle(`export * from '${specifier}';`);
  expect([...errors, ...warnings]).toEqual([]);
});

const createsAgent = `import { createAgent, tool } from 'agentchart'; globalThis.program = [createAgent, tool];`;
const asksOpenai = `import { openaiChat } from 'agentchart/openai'; ${createsAgent} globalThis.model = openaiChat;`;

// In bytes: what was measured last, with XState and without the packages that an application brings itself. A larger figure has to be meant.
// A bundle of one file has what is loaded later too.
test.each([
  ['the core', createsAgent, { pieces: 84_500, whole: 88_000 }],
  ['the core with openaiChat', asksOpenai, { pieces: 96_400, whole: 99_900 }],
])(
  '%s is no more than 2 %% larger than it was, minified and gzipped, whole and in pieces',
  async (_name, program, before) => {
    for (const splitting of [false, true]) {
      const { outputFiles, metafile } = await bundle(program, {
        minify: true,
        external: ['zod', 'openai'],
        metafile: true,
        splitting,
        outdir: 'out',
      });
      const first = loadedAtOnce(metafile?.outputs ?? {});
      const sizes = outputFiles
        .filter(({ path }) => first.has(basename(path)))
        .map(({ contents }) => gzipSync(contents).length);
      const size = sizes.reduce((sum, each) => sum + each, 0);
      expect(size).toBeLessThanOrEqual((splitting ? before.pieces : before.whole) * 1.02);
    }
  },
);
