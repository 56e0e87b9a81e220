import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Worker {
  name: string;
  url: string;
  /** At once, as when its machine is lost. */
  kill(): void;
}

export interface WorkerOptions {
  name: string;
  ledger: string;
  env: Record<string, string>;
  /** What it says while it works, line by line. */
  onLine(line: string, worker: Worker): void;
}

/** A worker in a process of its own; resolves when it serves. */
export const startWorker = ({ name, ledger, env, onLine }: WorkerOptions): Promise<Worker> =>
  new Promise((resolve, reject) => {
    const flags = process.execArgv.filter((flag) => flag.startsWith('--conditions'));
    const child: ChildProcess = spawn(
      process.execPath,
      [...flags, new URL('./worker.ts', import.meta.url).pathname, name, ledger],
      { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const kill = (): void => void child.kill('SIGKILL');
    // Also where this process ends without having killed it.
    process.once('exit', kill);
    child.once('close', () => process.off('exit', kill));
    child.once('error', reject);
    child.once('close', () => reject(new Error(`${name} ended before it served`)));
    let worker: Worker | undefined;
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (worker !== undefined) {
        onLine(line, worker);
      } else if (URL.canParse(line)) {
        worker = { name, url: line, kill };
        resolve(worker);
      }
    });
  });
