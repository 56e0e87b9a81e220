// Builds the package into dist, or into the folder that is given: JavaScript and types by tsc, then what users must not install
// is bundled into the one file that imports it.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Plugin, build } from 'esbuild';
import { buildPage } from './build-page.ts';

const root = resolve(import.meta.dirname, '..');
const out = resolve(root, process.argv[2] ?? 'dist');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

rmSync(out, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', out], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

// What users must not install: [the file that imports it, the packages whose code goes in].
const bundles = [
  ['inspector/layers.js', ['@dagrejs/dagre']],
  ['models/openai/event-stream.js', ['eventsource-parser']],
  ['tools/input-hash.js', ['@noble/hashes']],
  ['middleware/cache.js', ['lru-cache']],
  ['middleware/rate-limit.js', ['p-queue']],
  ['restate/known-sessions.js', ['lru-cache']],
] as const;

const licenceOf = (name: string): string => {
  const folder = join(root, 'node_modules', name);
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.md)?$/i.test(each));
  if (file === undefined) throw new Error(`${name} has no licence in its package`);
  return readFileSync(join(folder, file), 'utf8').trim();
};

/** What the file imports of ours stays a file of its own. */
const ownFilesStayOutside = (importer: string): Plugin => ({
  name: 'own-files',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\./ }, (args) =>
      args.importer === importer ? { path: args.path, external: true } : undefined,
    );
  },
});

for (const [file, packages] of bundles) {
  const path = join(out, file);
  const licences = packages.map((name) => `Contains ${name}.\n\n${licenceOf(name)}`);
  await build({
    absWorkingDir: root,
    entryPoints: [path],
    outfile: path,
    allowOverwrite: true,
    bundle: true,
    plugins: [ownFilesStayOutside(path)],
    nodePaths: [join(root, 'node_modules')],
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    // What runs in a browser runs in Node as well, and imports nothing of it.
    conditions: ['browser'],
    target: 'es2023',
    minify: true,
    legalComments: 'none',
    banner: { js: `/*! ${licences.join('\n\n')}\n*/` },
  });
}

await buildPage(join(out, 'inspector', 'page'));
