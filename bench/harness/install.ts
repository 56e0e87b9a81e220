import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

const versionsIn = (file: string): string => {
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
    packages: Record<string, { version?: string; optional?: boolean }>;
  };
  return Object.entries(packages)
    .filter(([name, { optional }]) => name !== '' && optional !== true)
    .map(([name, { version }]) => `${name} ${version}`)
    .join();
};

/** Installs the contenders where they are not there, or not in the versions of the lock file. */
export const installPeers = (): void => {
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && versionsIn(installed) === versionsIn(join(root, 'package-lock.json'))) return;
  console.log('installing the contenders …');
  // A package with native code may not build here: then its contender says so in the table.
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};
