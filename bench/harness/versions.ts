import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const folder = join(import.meta.dirname, '..');
export const repository = join(folder, '..');

/** The version of a package that the bench uses; undefined where it is not installed. */
export const installedVersion = (name: string): string | undefined => {
  for (const path of [join(folder, 'node_modules', name), join(repository, 'node_modules', name), repository]) {
    const at = join(path, 'package.json');
    if (!existsSync(at)) continue;
    const found = JSON.parse(readFileSync(at, 'utf8')) as { name: string; version: string };
    if (found.name === name) return found.version;
  }
  return undefined;
};

export const versions = (): Record<string, string> => {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const names = ['agentchart', 'xstate', ...Object.keys(dependencies)];
  return Object.fromEntries(names.map((name) => [name, installedVersion(name) ?? 'not installed']));
};
