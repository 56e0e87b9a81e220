import { connect, createServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startBalancer } from '../../examples/distributed/start-balancer.ts';
import { freePorts } from '../../examples/distributed/free-ports.ts';

/** Gives back what it gets, under its name; holds requests to `/held` open. */
const startEcho = async (name: string, port = 0): Promise<{ url: string; die(): void }> => {
  const server = createServer();
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, name });
    if (headers[':path'] !== '/held') stream.pipe(stream);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    die: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};

const ask = (url: string, path = '/', body = 'hello'): Promise<{ name: unknown; text: string }> =>
  new Promise((resolve, reject) => {
    const session = connect(url);
    const stream = session.request({ ':path': path, ':method': 'POST' });
    let name: unknown;
    let text = '';
    stream.on('response', (headers) => (name = headers['name']));
    stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    stream.on('error', reject);
    stream.on('close', () => {
      session.close();
      if (stream.rstCode === 0) resolve({ name, text });
      else reject(new Error(`reset with ${stream.rstCode}`));
    });
    stream.end(body);
  });

test('the balancer gives requests to the workers in turn, and passes over one that is not there', async () => {
  const [nobody] = await freePorts(1);
  const one = await startEcho('one');
  const two = await startEcho('two');
  const balancer = await startBalancer([one.url, `http://127.0.0.1:${nobody}`, two.url]);
  const large = 'x'.repeat(1_000_000);
  const answers = await Promise.all(Array.from({ length: 9 }, () => ask(balancer.url, '/', large)));
  expect(answers.every(({ text }) => text === large)).toBe(true);
  expect(new Set(answers.map(({ name }) => name))).toEqual(new Set(['one', 'two']));
  const held = ask(balancer.url, '/held');
  const asked = Promise.allSettled([held, ask(balancer.url, '/held'), ask(balancer.url, '/held')]);
  // Each worker has one of them by the time when it has answered a later one.
  for (let answered = 0; answered < 4; answered++) await ask(balancer.url);
  one.die();
  two.die();
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await expect(ask(balancer.url)).rejects.toThrow();
  const again = await startEcho('again', Number(new URL(one.url).port));
  expect((await ask(balancer.url)).name).toBe('again');
  again.die();
  await balancer.close();
});
