import { randomInt } from 'node:crypto';
import { type Server, createServer } from 'node:net';

/** Below those that systems give to whoever asks for any port or connects to somebody: what is found here is not taken by the way. */
const lowest = 10_000;
const highest = 32_767;

const hold = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined)).listen(port, '127.0.0.1', () => resolve(server));
  });

const release = (server: Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));

/** Ports of 127.0.0.1 that nobody has; all different, as all are held until the last is found. Throws where 1,000 in a row are taken. */
export const freePorts = async (count: number): Promise<number[]> => {
  const found = new Map<number, Server>();
  for (let tries = 0; found.size < count; tries += 1) {
    if (tries === count + 1_000) throw new Error('there is no free port of 127.0.0.1');
    const port = randomInt(lowest, highest + 1);
    const server = await hold(port);
    if (server !== undefined) found.set(port, server);
  }
  await Promise.all([...found.values()].map(release));
  return [...found.keys()];
};
