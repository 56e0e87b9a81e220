// Builds the inspector's page: three files that need nothing from elsewhere. Preact, dagre and the schema checker are bundled in.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const source = join(root, 'src', 'inspector', 'page');
const bundled = [
  ['preact', 'LICENSE'],
  ['@dagrejs/dagre', 'LICENSE'],
] as const;

/** Builds into a folder, also where somebody else does the same; a file is there whole or as it was before, and `page.js` after the others. */
export const buildPage = async (folder: string): Promise<void> => {
  const licences = bundled.map(
    ([name, file]) => `Contains ${name}.\n\n${readFileSync(join(root, 'node_modules', name, file), 'utf8').trim()}`,
  );
  const schemaLicence = 'Contains @cfworker/json-schema, Copyright (c) 2020 Jeremy Danyow, under the MIT licence.';
  // Only where there is something to build: it costs more than most programs that ask.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(source, 'main.tsx'), join(source, 'page.css')],
    outdir: folder,
    entryNames: 'page',
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    banner: { js: `/*! ${[...licences, schemaLicence].join('\n\n')}\n*/` },
  });
  mkdirSync(folder, { recursive: true });
  const files = [
    [join(folder, 'index.html'), readFileSync(join(source, 'index.html'))] as const,
    ...outputFiles.map(({ path, contents }) => [path, contents] as const),
  ].toSorted(([a], [b]) => Number(a.endsWith('.js')) - Number(b.endsWith('.js')));
  for (const [path, contents] of files) {
    const part = `${path}.${randomUUID()}.part`;
    writeFileSync(part, contents);
    renameSync(part, path);
  }
};

/** Builds where there is no page, or an older one than its sources. */
export const buildStalePage = async (folder: string): Promise<void> => {
  const built = join(folder, 'page.js');
  const inspector = join(root, 'src', 'inspector');
  const files = readdirSync(inspector, { recursive: true, encoding: 'utf8' });
  const isFresh = (at: number): boolean => files.every((file) => statSync(join(inspector, file)).mtimeMs < at);
  if (existsSync(built) && isFresh(statSync(built).mtimeMs)) return;
  await buildPage(folder);
};

if (import.meta.main) await buildPage(resolve(root, process.argv[2] ?? join('dist', 'inspector', 'page')));
