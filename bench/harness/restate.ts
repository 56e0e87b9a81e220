import { type ChildProcess, spawn } from 'node:child_process';
import { startBalancer } from '../../examples/distributed/start-balancer.ts';
import { startEngine } from '../../examples/distributed/start-engine.ts';
import { type RemoteSession, restateSessions } from '../../src/restate/index.ts';

/** What a turn of the bench does. */
export interface Question {
  rounds: number;
  calls: number;
  /** ms of each call. */
  ms: number;
}

export const answer = 'All is looked up.';
export const limits = { limits: { maxIterations: 10_000 }, concurrency: 100 };

/** What a session is, here or behind the engine. */
export interface Asked {
  send(message: string): Promise<unknown>;
  settled(): Promise<{ text: string }>;
}

/** One turn; throws where it came to another end. */
export const ask = async (session: Asked, question: Question): Promise<void> => {
  await session.send(JSON.stringify(question));
  const { text } = await session.settled();
  if (text !== answer) throw new Error(`the answer was ${JSON.stringify(text)}`);
};

const startWorker = (): Promise<{ url: string; child: ChildProcess }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [new URL('./restate-worker.ts', import.meta.url).pathname], {
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    process.once('exit', () => child.kill('SIGKILL'));
    child.once('error', reject).once('close', () => reject(new Error('a worker ended')));
    child.stdout.once('data', (line: Buffer) => resolve({ url: line.toString().trim(), child }));
  });

/** An engine with so many workers, each in a process of its own, for as long as `use` takes. */
export const withEngine = async <T>(
  workers: number,
  use: (open: (id?: string) => Promise<RemoteSession>) => Promise<T>,
): Promise<T> => {
  await using engine = await startEngine();
  const started = await Promise.all(Array.from({ length: workers }, startWorker));
  const balancer = await startBalancer(started.map(({ url }) => url));
  try {
    await engine.register(balancer.url);
    const { open } = restateSessions({ ingress: engine.ingress, agent: 'bench' });
    return await use(open);
  } finally {
    for (const { child } of started) child.kill('SIGKILL');
    await balancer.close();
  }
};
