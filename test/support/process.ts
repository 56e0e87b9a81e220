import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a TypeScript file in a process of its own and gives what it printed as JSON. Rejects for an exit status other than 0. */
export const runFile = async (path: URL, args: readonly string[] = []): Promise<Record<string, unknown>> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', path.pathname, ...args],
    { timeout: 150_000, env: { ...process.env, NODE_OPTIONS: '' } },
  );
  return JSON.parse(stdout) as Record<string, unknown>;
};
