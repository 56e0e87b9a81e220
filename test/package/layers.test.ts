import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Importing file, what it imports, whether it may. */
const cases: [file: string, source: string, allowed: boolean][] = [
  ['src/errors.ts', './messages/a.ts', false],
  ['src/messages/a.ts', './b.ts', true],
  ['src/messages/a.ts', '../errors.ts', true],
  ['src/messages/a.ts', '../tools/a.ts', false],
  ['src/messages/a.ts', 'xstate', false],
  ['src/messages/a.ts', 'node:fs', false],
  ['src/tools/a.ts', '../messages/a.ts', true],
  ['src/tools/a.ts', 'zod', true],
  ['src/tools/a.ts', '../actors/a.ts', false],
  ['src/tools/a.ts', '@stablelib/sha256', false],
  ['src/tools/input-hash.ts', '@stablelib/sha256', true],
  ['src/tools/input-hash.ts', 'zod', false],
  ['src/tools/a.ts', 'xstate', false],
  ['src/tools/a.ts', 'node:fs', false],
  ['src/models/a.ts', '../messages/a.ts', true],
  ['src/models/a.ts', '../actors/a.ts', false],
  ['src/models/a.ts', './openai/a.ts', false],
  ['src/models/a.ts', 'openai', false],
  ['src/models/a.ts', 'xstate', false],
  ['src/models/openai/a.ts', 'openai', true],
  ['src/models/openai/a.ts', 'openai/resources/responses', true],
  ['src/models/openai/a.ts', '../../messages/a.ts', true],
  ['src/models/openai/a.ts', '../a.ts', true],
  ['src/models/openai/a.ts', '../../tools/a.ts', false],
  ['src/models/openai/a.ts', 'node:fs', false],
  ['src/actors/a.ts', '../tools/a.ts', true],
  ['src/actors/a.ts', '../models/a.ts', true],
  ['src/actors/a.ts', 'xstate', true],
  ['src/actors/a.ts', '../models/openai/a.ts', false],
  ['src/actors/a.ts', '../machines/a.ts', false],
  ['src/actors/a.ts', 'openai', false],
  ['src/machines/a.ts', '../actors/a.ts', true],
  ['src/machines/a.ts', '../sessions/a.ts', false],
  ['src/machines/a.ts', 'node:timers', false],
  ['src/machines/a.ts', 'nanoid', false],
  ['src/sessions/a.ts', '../machines/a.ts', true],
  ['src/sessions/a.ts', '../inspector/chart.ts', false],
  ['src/sessions/a.ts', '../index.ts', false],
  ['src/sessions/a.ts', 'node:fs', false],
  ['src/sessions/a.ts', 'nanoid', false],
  ['src/sessions/new-id.ts', 'nanoid', true],
  ['src/sessions/new-id.ts', 'node:crypto', false],
  ['src/sessions/a.ts', '../stores/a.ts', true],
  ['src/restate/a.ts', '../sessions/a.ts', true],
  ['src/restate/a.ts', '@restatedev/restate-sdk', true],
  ['src/restate/a.ts', 'lru-cache', true],
  ['src/restate/a.ts', '../index.ts', false],
  ['src/restate/a.ts', '../server/a.ts', false],
  ['src/restate/a.ts', 'node:http2', false],
  ['src/restate/restate-worker.ts', 'node:http2', true],
  ['src/restate/restate-worker.ts', 'node:fs', false],
  ['src/restate/live-server.ts', 'node:http', true],
  ['src/restate/live-server.ts', '../stores/a.ts', false],
  ['src/sessions/a.ts', '@restatedev/restate-sdk', false],
  ['src/stores/a.ts', '../errors.ts', true],
  ['src/stores/a.ts', '../machines/a.ts', true],
  ['src/stores/a.ts', '../messages/a.ts', false],
  ['src/stores/a.ts', '../sessions/a.ts', false],
  ['src/stores/a.ts', 'node:fs', false],
  ['src/stores/a.ts', 'node:sqlite', false],
  ['src/stores/a.ts', 'pg', false],
  ['src/stores/sqlite-store.ts', 'node:sqlite', false],
  ['src/stores/sqlite-store.ts', '../sessions/a.ts', false],
  ['src/stores/sqlite-store.ts', 'pg', false],
  ['src/stores/postgres-store.ts', 'pg', true],
  ['src/stores/postgres-store.ts', 'node:crypto', false],
  ['src/stores/postgres-store.ts', '../sessions/a.ts', false],
  ['src/compaction/a.ts', '../models/a.ts', true],
  ['src/compaction/a.ts', '../messages/a.ts', true],
  ['src/compaction/a.ts', '../models/openai/a.ts', false],
  ['src/compaction/a.ts', '../sessions/a.ts', false],
  ['src/compaction/a.ts', 'xstate', false],
  ['src/compaction/a.ts', 'node:fs', false],
  ['src/testing/a.ts', '../sessions/a.ts', true],
  ['src/documents/a.ts', '../machines/a.ts', true],
  ['src/documents/a.ts', '../stores/a.ts', false],
  ['src/documents/a.ts', '../sessions/a.ts', false],
  ['src/testing/a.ts', '../stores/a.ts', true],
  ['src/testing/a.ts', './explore/explore.ts', true],
  ['src/testing/a.ts', 'ai', false],
  ['src/testing/a.ts', 'node:fs', false],
  ['src/testing/kill-everywhere.ts', 'node:child_process', false],
  ['src/testing/kill-everywhere.ts', '../sessions/a.ts', true],
  ['src/testing/kill-everywhere.ts', '../inspector/chart.ts', false],
  ['src/testing/killed-life.ts', 'node:fs', true],
  ['src/testing/killed-life.ts', '../sessions/a.ts', false],
  ['src/testing/a.ts', '../inspector/chart.ts', false],
  ['src/testing/explore/a.ts', '../../machines/a.ts', true],
  ['src/testing/explore/a.ts', '../../sessions/a.ts', false],
  ['src/testing/explore/a.ts', '../../sessions/check-options.ts', true],
  ['src/testing/explore/a.ts', 'node:fs', false],
  ['src/inspector/a.ts', '../machines/a.ts', true],
  ['src/inspector/a.ts', '../sessions/a.ts', false],
  ['src/inspector/a.ts', './index.ts', false],
  ['src/inspector/a.ts', 'node:http', false],
  ['src/inspector/server.ts', 'node:http', true],
  ['src/inspector/server.ts', '../sessions/a.ts', false],
  ['src/otel/a.ts', '@opentelemetry/api', true],
  ['src/otel/a.ts', '../sessions/a.ts', true],
  ['src/otel/a.ts', '../models/a.ts', true],
  ['src/otel/a.ts', '../models/openai/a.ts', false],
  ['src/otel/a.ts', '../machines/a.ts', false],
  ['src/otel/a.ts', '@opentelemetry/sdk-trace-base', false],
  ['src/otel/a.ts', 'node:fs', false],
  ['src/sessions/a.ts', '@opentelemetry/api', false],
  ['src/sessions/a.ts', '../otel/a.ts', false],
  ['src/middleware/a.ts', 'lru-cache', true],
  ['src/middleware/a.ts', 'p-queue', true],
  ['src/middleware/a.ts', '../sessions/a.ts', true],
  ['src/middleware/a.ts', '../machines/a.ts', false],
  ['src/middleware/a.ts', '../otel/a.ts', false],
  ['src/middleware/a.ts', 'node:console', false],
  ['src/models/a.ts', 'lru-cache', false],
  ['src/index.ts', './middleware/index.ts', false],
  ['src/index.ts', './otel/index.ts', false],
  ['src/server/a.ts', '../sessions/a.ts', true],
  ['src/server/a.ts', '../ai-sdk/ui/a.ts', true],
  ['src/server/a.ts', '../ai-sdk/index.ts', false],
  ['src/server/a.ts', 'zod', true],
  ['src/server/a.ts', 'ai', false],
  ['src/server/a.ts', 'node:http', false],
  ['src/server/a.ts', 'hono', false],
  ['src/inspector/a.ts', '../actors/host.ts', true],
  ['src/inspector/a.ts', '../actors/tool.ts', false],
  ['src/inspector/a.ts', './server/serve.ts', false],
  ['src/inspector/a.ts', './page/app.tsx', false],
  ['src/inspector/index.ts', './server/serve.ts', true],
  ['src/inspector/index.ts', './page/app.tsx', false],
  ['src/inspector/server/a.ts', 'node:http', true],
  ['src/inspector/server/a.ts', '../recorder.ts', true],
  ['src/inspector/server/a.ts', '../../sessions/a.ts', true],
  ['src/inspector/server/a.ts', '../../stores/store.ts', true],
  ['src/inspector/server/a.ts', '../../stores/sqlite-store.ts', false],
  ['src/inspector/server/a.ts', '../../models/a.ts', false],
  ['src/inspector/server/a.ts', 'preact', false],
  ['src/inspector/page/a.ts', 'preact', true],
  ['src/inspector/page/a.ts', 'preact/hooks', true],
  ['src/inspector/page/a.ts', '@cfworker/json-schema', true],
  ['src/inspector/page/a.ts', '../view-state.ts', true],
  ['src/inspector/page/a.ts', '../server/serve.ts', false],
  ['src/inspector/page/a.ts', 'node:fs', false],
  ['src/inspector/page/a.ts', 'xstate', false],
  ['src/index.ts', './sessions/a.ts', true],
  ['src/index.ts', './stores/a.ts', true],
  ['src/index.ts', './inspector/index.ts', false],
  ['src/index.ts', './models/openai/a.ts', false],
  ['src/index.ts', 'xstate', false],
  ['src/cli/main.ts', '../inspector/index.ts', true],
  ['src/cli/main.ts', 'node:fs', true],
  ['examples/a.ts', '../src/inspector/index.ts', true],
  ['test/a.ts', 'ai', true],
];

/** Code that a rule has to refuse, by the rule. */
const refused: Record<string, string> = {
  'typescript(no-explicit-any)': 'export const a = (value: any): unknown => value;',
  'typescript(no-non-null-assertion)': 'export const a = (value: string[]): string => value[0]!;',
  'typescript(no-floating-promises)': 'export const a = (): void => { Promise.resolve(1); };',
  'typescript(no-misused-promises)':
    'export const a = (): boolean => { if (Promise.resolve(true)) return true; return false; };',
  'typescript(no-unsafe-assignment)': "export const a = (): void => { const b = JSON.parse('1'); b; };",
  'typescript(switch-exhaustiveness-check)':
    "export const a = (b: 'c' | 'd'): void => { switch (b) { case 'c': return; } };",
  'typescript(consistent-type-imports)': "export const a = (b: import('./b.ts').B): unknown => b;",
  'import(no-default-export)': 'export default 1;',
  'eslint(no-console)': 'console.log(1);',
  'eslint(max-lines)': 'export {};\n'.repeat(301),
};

const fileOf = (index: number, file: string): string => file.replace(/\/a\.ts$/, `/case-${index}.ts`);

const lint = async (files: ReadonlyMap<string, string>, options: string[] = []): Promise<string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'agentchart-lint-'));
  try {
    await copyFile(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
    await copyFile(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    for (const [file, text] of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    const folders = [...new Set([...files.keys()].map((file) => file.split('/')[0] ?? file))];
    const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint');
    const run = promisify(execFile)(process.execPath, [oxlint, ...options, '-f', 'unix', ...folders], {
      cwd: folder,
    });
    // It exits with 1 when it finds something.
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    return stdout.split('\n');
  } finally {
    await rm(folder, { recursive: true });
  }
};

test('who may import whom is a lint error where it is broken, and only there', async () => {
  const named = cases.filter(([file]) => !file.endsWith('/a.ts'));
  const files = new Map(cases.map(([file, source], index) => [fileOf(index, file), `export * from '${source}';\n`]));
  // A file that is named in a rule stands for all of its cases.
  for (const [file] of named) {
    const sources = named.filter(([other]) => other === file).map(([, source]) => `export * from '${source}';\n`);
    files.set(file, sources.join(''));
  }
  const found = await lint(files);
  const answers = cases.map(([file, source], index): [string, string, boolean] => {
    const start = `${fileOf(index, file)}:`;
    const isRefused = found.some(
      (line) => line.startsWith(start) && line.includes(`'${source}'`) && line.includes('no-restricted-imports'),
    );
    return [file, source, !isRefused];
  });
  expect(answers).toEqual(cases);
});

test('the lint rules refuse what the house does not want', async () => {
  const rules = Object.entries(refused);
  const files = new Map(rules.map(([, code], index) => [`src/messages/case-${index}.ts`, code]));
  files.set('src/messages/ring-a.ts', "export { b as a } from './ring-b.ts';\n");
  files.set('src/messages/ring-b.ts', "export { a as b } from './ring-a.ts';\n");
  const found = await lint(files, ['--type-aware']);
  const missing = rules
    .filter(
      ([rule], index) =>
        !found.some((line) => line.startsWith(`src/messages/case-${index}.ts:`) && line.includes(rule)),
    )
    .map(([rule]) => rule);
  expect(missing).toEqual([]);
  expect(found.filter((line) => line.includes('import(no-cycle)'))).toHaveLength(2);
});
