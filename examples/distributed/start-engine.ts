import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from './free-ports.ts';

export interface Engine extends AsyncDisposable {
  /** Where sessions are called. */
  readonly ingress: string;
  readonly admin: string;
  /** Of the server itself, as long as it runs. */
  readonly pid: number | undefined;
  /** Makes the services at an address known; again, also with changed code, is no error. */
  register(uri: string): Promise<void>;
  /** At once, without a chance to write anything. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** Killed where it still runs, and started over the same data and ports; resolves when it answers. */
  restart(): Promise<void>;
  /** Ends it and removes its data. */
  close(): Promise<void>;
}

/** The server for this machine, or undefined where its makers give none, such as on Windows. */
const binary = ((): string | undefined => {
  try {
    const path = createRequire(import.meta.url).resolve(
      `@restatedev/restate-server-${process.platform}-${process.arch}/package.json`,
    );
    return join(dirname(path), 'bin', 'restate-server');
  } catch {
    return undefined;
  }
})();

/** False, or why the engine cannot be started here. */
export const engineMissing: string | false =
  binary === undefined ? `Restate's server has no package for ${process.platform} on ${process.arch}` : false;

export interface EngineOptions {
  /** The path of a private key (Ed25519, PEM) with which it signs what it asks of workers. Default: nothing is signed. */
  identityKey?: string;
}

const configuration = (
  folder: string,
  [ingress, admin, node]: readonly number[],
  { identityKey }: EngineOptions,
): string => `
node-name = "one"
cluster-name = "agentchart"
base-dir = ${JSON.stringify(folder)}
bind-ip = "127.0.0.1"
listen-mode = "tcp"
advertised-host = "127.0.0.1"
bind-port = ${node}
disable-telemetry = true
disable-prometheus = true
default-num-partitions = 2
rocksdb-total-memory-size = "128 MiB"
log-filter = "error"
log-format = "compact"
log-disable-ansi-codes = true

[default-retry-policy]
initial-interval = "50ms"
max-interval = "500ms"

[worker.invoker]
memory-limit = "256 MiB"
${identityKey === undefined ? '' : `request-identity-private-key-pem-file = ${JSON.stringify(identityKey)}`}

[bifrost]
record-cache-memory-size = "16 MiB"

[admin]
bind-port = ${admin}
disable-web-ui = true

[ingress]
bind-port = ${ingress}
`;

const isWell = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
};

const killed = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await closed;
};

/** ms; it takes less than one second where the machine has nothing else to do. */
const patience = 60_000;

/** A real server on free ports of 127.0.0.1, with its data in a folder of its own. Rejects with its log where it does not start. */
export const startEngine = async (options: EngineOptions = {}): Promise<Engine> => {
  if (binary === undefined) throw new Error(String(engineMissing));
  const path = binary;
  const folder = await mkdtemp(join(tmpdir(), 'agentchart-engine-'));
  const ports = await freePorts(3);
  const [ingress, admin] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string, string];
  const file = join(folder, 'restate.toml');
  await writeFile(file, configuration(join(folder, 'data'), ports, options));

  const start = async (): Promise<ChildProcess> => {
    const child = spawn(path, ['--config-file', file, '--no-logo'], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Also where this process ends before it closes the engine.
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    let log = '';
    const note = (text: string): void => {
      log = `${log}${text}`.slice(-4_000);
    };
    child.stdout.setEncoding('utf8').on('data', note);
    child.stderr.setEncoding('utf8').on('data', note);
    const gone = new Promise<never>((_, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        process.off('exit', kill);
        reject(new Error(`Restate's server ended with ${code ?? signal}:\n${log}`));
      });
    });
    gone.catch(() => undefined);
    const deadline = Date.now() + patience;
    while (!((await isWell(`${admin}/health`)) && (await isWell(`${ingress}/restate/health`)))) {
      await Promise.race([pause(20), gone]);
      if (Date.now() < deadline) continue;
      await killed(child);
      throw new Error(`Restate's server did not become healthy in a minute:\n${log}`);
    }
    return child;
  };

  let child = await start().catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  const close = async (): Promise<void> => {
    await killed(child);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  return {
    ingress,
    admin,
    get pid() {
      return child.exitCode === null && child.signalCode === null ? child.pid : undefined;
    },
    register: async (uri) => {
      const answer = await fetch(`${admin}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri, force: true }),
      });
      if (!answer.ok) throw new Error(`${uri} was not registered: ${answer.status} ${await answer.text()}`);
    },
    kill: () => killed(child),
    restart: async () => {
      await killed(child);
      child = await start();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
};
