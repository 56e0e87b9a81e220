import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leftBehind } from '../support/left-behind.ts';

export const root = join(import.meta.dirname, '..', '..');

export interface Finished {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  /** Resolves when the text stands on stdout. */
  shows(text: string): Promise<void>;
  finished: Promise<Finished>;
}

export interface RunOptions {
  /** Where session files and `.env` are. */
  cwd: string;
  env?: Record<string, string>;
}

/** An empty folder, outside the repository. */
export const emptyFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'agentchart-example-'));
  leftBehind.folders.push(folder);
  return folder;
};

const cleared = [
  'MODEL',
  'API_KEY',
  'OPENAI_URL',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'CI',
  'FORCE_COLOR',
  'NO_COLOR',
  'NODE_OPTIONS',
  // No example opens a browser here.
  'DISPLAY',
  'WAYLAND_DISPLAY',
];

const cleanEnv = (): NodeJS.ProcessEnv => {
  const env = { ...process.env };
  for (const name of cleared) delete env[name];
  return env;
};

export const watch = (command: string, args: string[], { cwd, env = {} }: RunOptions): Running => {
  const child = spawn(command, args, { cwd, env: { ...cleanEnv(), ...env }, stdio: 'pipe' });
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  child.stdout.on('data', (piece: Buffer) => {
    stdout += piece.toString();
    for (const look of waiting) look();
  });
  child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, stdout, stderr }));
  });
  const shows = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!stdout.includes(text)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
      void finished.then(() =>
        reject(new Error(`it ended without showing ${JSON.stringify(text)}: ${stdout}${stderr}`)),
      );
    });
  return { child, shows, finished };
};

/** `agentchart` is the source of this repository. */
export const fromSource = '--conditions=agentchart-source';

export const exampleArgs = (file: string, args: string[]): string[] => [
  fromSource,
  join(root, 'examples', file),
  ...args,
];

/** Starts the program as a process of its own, with no key in its environment and no terminal. */
export const startExample = (file: string, args: string[], options: RunOptions): Running => {
  const running = watch(process.execPath, exampleArgs(file, args), options);
  running.child.stdin?.end();
  return running;
};

export const runExample = (file: string, args: string[], options: RunOptions): Promise<Finished> =>
  startExample(file, args, options).finished;
