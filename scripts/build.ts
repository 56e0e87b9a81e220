// Builds the package into dist, or into the folder that is given: types by tsc, JavaScript by rolldown. A module system pays for every
// file, so the core is one file and what is imported later than at the start has its own. What users must not install is bundled in.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type ChunkingContext, build } from 'rolldown';
import { buildPage } from './build-page.ts';
import { parseWhenCalled } from './parse-when-called.ts';

interface PackageJson {
  bin: Record<string, string>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  exports: Record<string, unknown>;
  imports: Record<string, unknown>;
}

const root = resolve(import.meta.dirname, '..');
const out = resolve(root, process.argv[2] ?? 'dist');
const source = join(root, 'src');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { bin, dependencies, peerDependencies, exports, imports } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as PackageJson;

rmSync(out, { recursive: true, force: true });
// One checker: several do what they share twice, and write the members of a union in another order.
const flags = ['--outDir', out, '--emitDeclarationOnly', '--checkers', '1'];
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), ...flags], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

const builtFor = (part: unknown): string[] =>
  [...JSON.stringify(part).matchAll(/"\.\/dist\/([^"]+)\.js"/g)].map(([, name = '']) => name);

/** The files that package.json promises, and the one that is started as a process of its own. */
const entries = [...builtFor([exports, imports, bin]), 'testing/killed-life'];

const fileOf = (name: string): string => join(source, `${name}.ts`);

/** All that these files import at once, and they themselves. */
const loadedWith = (files: readonly string[], context: ChunkingContext): ReadonlySet<string> => {
  const found = new Set(files);
  // A set goes on to what is added while it is walked through.
  for (const id of found) for (const imported of context.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  return found;
};

/**
 * Which file each module of the core goes to. Each costs about two milliseconds of every start, so there are few: what the store of a path needs,
 * which is loaded later; what middleware loads, which needs no XState; and all the rest. What the core itself loads later has files of its own.
 */
const placesOf = (context: ChunkingContext): ReadonlyMap<string, string> => {
  const core = loadedWith([fileOf('index')], context);
  const base = loadedWith(builtFor(imports).map(fileOf), context);
  const light = loadedWith([fileOf('middleware/index')], context);
  return new Map([...core].map((id) => [id, base.has(id) ? 'base' : light.has(id) ? 'light' : 'core']));
};

let places: ReadonlyMap<string, string> | undefined;

const chunkOf = (file: string, context: ChunkingContext): string | null => {
  places ??= placesOf(context);
  // The inspector's server looks for the page beside itself.
  const otherwise = file.startsWith(join(source, 'inspector', 'server')) ? 'inspector/server/index' : null;
  return places.get(file) ?? otherwise;
};

const licenceOf = (name: string): [text: string, name: string] => {
  const folder = join(root, 'node_modules', name);
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.md)?$/i.test(each));
  if (file === undefined) throw new Error(`${name} has no licence in its package`);
  return [readFileSync(join(folder, file), 'utf8').trim(), name];
};

const licencesFor = (modules: readonly string[]): string => {
  const names = modules.flatMap((id) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []);
  // Packages of one author have one text.
  const texts = Map.groupBy([...new Set(names)].map(licenceOf), ([text]) => text);
  const told = [...texts].map(([text, of]) => `Contains ${of.map(([, name]) => name).join(', ')}.\n\n${text}`);
  return told.length === 0 ? '' : `/*! ${told.join('\n\n')}\n*/`;
};

const installed = Object.keys({ ...dependencies, ...peerDependencies });

await build({
  cwd: root,
  input: Object.fromEntries(entries.map((name) => [name, fileOf(name)])),
  // What runs in a browser runs in Node as well, and imports nothing of it.
  platform: 'neutral',
  resolve: { conditionNames: ['browser', 'import'], mainFields: ['module', 'main'] },
  external: (id) => /^(node:|#)/.test(id) || installed.some((name) => id === name || id.startsWith(`${name}/`)),
  treeshake: { moduleSideEffects: (id) => relative(source, id).startsWith('cli') || id.includes('killed-life') },
  transform: { target: 'es2023' },
  plugins: [parseWhenCalled()],
  output: {
    dir: out,
    entryFileNames: '[name].js',
    chunkFileNames: ({ name }) => (name.includes('/') ? `${name}.js` : `chunks/${name}.js`),
    comments: { legal: true, annotation: true, jsdoc: false },
    codeSplitting: { groups: [{ name: chunkOf, debugName: 'core', includeDependenciesRecursively: false }] },
    banner: ({ moduleIds }) => licencesFor(moduleIds),
  },
  preserveEntrySignatures: 'allow-extension',
});

await buildPage(join(out, 'inspector', 'page'));
