import { createServer } from 'node:net';

const portOf = (address: ReturnType<ReturnType<typeof createServer>['address']>): number =>
  typeof address === 'object' && address !== null ? address.port : 0;

/** Ports of 127.0.0.1 that nobody has; all different, as all are held until the last is found. */
export const freePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject).listen(0, '127.0.0.1', () => resolve(portOf(server.address())));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
};
