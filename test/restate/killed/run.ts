import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '../../../examples/distributed/free-ports.ts';
import { startBalancer } from '../../../examples/distributed/start-balancer.ts';
import { restateSessions } from '../../../src/restate/index.ts';
import { compileCache } from '../../support/compile-cache.ts';
import { startRestate } from '../../support/restate-server.ts';
import { type Checked, checkSession } from './check.ts';
import type { Noted } from './plan.ts';

export interface KillOptions {
  /** Which moments and victims: the same again where the machine is as quick as it was. */
  seed: number;
  sessions: number;
  workers: number;
  /** How many kills; every third is of the engine, the others of a worker. */
  kills: number;
  /** Longest time between two kills, in ms. */
  within: number;
}

export interface KillReport extends Omit<Checked, 'problems'> {
  problems: string[];
  killed: { workers: number; servers: number };
  settled: number;
  ms: number;
}

/** Numbers in [0, 1) that are the same for the same seed. */
const createRandom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
};

const script = new URL('./worker.ts', import.meta.url).pathname;

const startWorker = async (port: number, file: string): Promise<ChildProcess> => {
  const flags = ['--conditions=agentchart-source', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, script, `${port}`, file], {
    env: { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: compileCache },
    // What an engine that goes away costs is told on stderr, and is no news here.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise<void>((resolve, reject) => {
    child
      .once('error', reject)
      .once('close', (code, signal) => reject(new Error(`a worker ended with ${signal ?? code}`)));
    child.stdout?.once('data', () => resolve());
  });
  return child;
};

const kill = async (child: ChildProcess): Promise<void> => {
  const gone = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await gone;
};

/** Sessions with calls, workers and an engine that are killed with SIGKILL while they work, and what came of it. */
export const runKilled = async (options: KillOptions): Promise<KillReport> => {
  const random = createRandom(options.seed);
  const begun = Date.now();
  const folder = await mkdtemp(join(tmpdir(), 'agentchart-killed-'));
  const ports = await freePorts(options.workers);
  const file = join(folder, 'noted');
  /** Those that are there, or are being started. */
  const workers = ports.map((port) => startWorker(port, file));
  await Promise.all(workers);
  const balancer = await startBalancer(ports.map((port) => `http://127.0.0.1:${port}`));
  const server = await startRestate();
  const killed = { workers: 0, servers: 0 };
  try {
    await server.register(balancer.url);
    const { open } = restateSessions({ ingress: server.ingress, agent: 'killed' });
    const ids = Array.from({ length: options.sessions }, (_, index) => `session ${index}`);
    const settled = Promise.all(
      ids.map(async (id) => {
        const session = await open(id);
        await session.send(id, { id: 'question' });
        await session.settled();
        return { id, messages: await session.messages() };
      }),
    );
    let isOver = false;
    const over = settled.finally(() => {
      isOver = true;
    });
    over.catch(() => undefined);
    const hasBegun = (): boolean => existsSync(file) && readFileSync(file, 'utf8').includes('"begun"');
    // From the first call on: before, there is less to lose.
    while (!isOver && !hasBegun()) await pause(5);
    for (let kills = 0; kills < options.kills && !isOver; kills++) {
      await pause(random() * options.within);
      const victim = Math.floor(random() * options.workers);
      if (kills % 3 === 2) {
        killed.servers += 1;
        await server.kill();
        await server.restart();
        continue;
      }
      const worker = await workers[victim];
      if (worker === undefined) continue;
      killed.workers += 1;
      await kill(worker);
      workers[victim] = startWorker(ports[victim] ?? 0, file);
    }
    await Promise.all(workers);
    const ended = await over;
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
    const noted = lines.map((line) => JSON.parse(line) as Noted);
    const checked = ended.map(({ id, messages }) => checkSession(id, messages, noted));
    const sum = (of: 'unknown' | 'again' | 'askedAgain'): number =>
      checked.reduce((total, each) => total + each[of], 0);
    return {
      problems: checked.flatMap(({ problems }) => problems),
      unknown: sum('unknown'),
      again: sum('again'),
      askedAgain: sum('askedAgain'),
      killed,
      settled: ended.length,
      ms: Date.now() - begun,
    };
  } finally {
    await Promise.all(workers.map(async (worker) => kill(await worker)));
    await balancer.close();
    await server.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
};
