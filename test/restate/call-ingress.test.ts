import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { restateSessions } from '../../src/restate/index.ts';
import { createIngress } from '../../src/restate/call-ingress.ts';

afterEach(() => {
  vi.useRealTimers();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const status =
  (code: number, body = ''): Answer =>
  (_, response) =>
    response.writeHead(code).end(body);

/** An ingress that gives these answers, one after the other. */
const startIngress = async (answers: readonly Answer[]) => {
  let asked = 0;
  const server = createServer((request, response) => {
    const answer = answers[asked] ?? status(500);
    asked += 1;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const call = createIngress(url);
  return {
    url,
    call: (body?: unknown, signal?: AbortSignal) => call<unknown>('agent.sessions', 'a/b', 'view', body, signal),
    asked: () => asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

test('a wait that a lost engine cuts off after a minute is asked for again, also while its services are not there yet', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const cutOff: Answer = (request) => {
    vi.setSystemTime(Date.now() + 60_000);
    request.socket.destroy();
  };
  await using ingress = await startIngress([cutOff, status(503), status(404), cutOff, status(200, '{"is":"there"}')]);
  expect(await ingress.call()).toEqual({ is: 'there' });
  expect(ingress.asked()).toBe(5);
});

test('an engine that does not come back, and an agent that nobody serves, are told', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const later: Answer = (request) => {
    vi.setSystemTime(Date.now() + 11_000);
    request.socket.destroy();
  };
  await using lost = await startIngress([later, later, later, later, later]);
  await expect(lost.call()).rejects.toMatchObject({
    code: 'engine-error',
    message: expect.stringContaining('could not be reached'),
  });
  expect(lost.asked()).toBe(4);
  await using unserved = await startIngress([status(404, 'service not found')]);
  await expect(unserved.call()).rejects.toMatchObject({
    code: 'engine-error',
    message: expect.stringContaining('is a worker of that agent registered?'),
  });
  expect(unserved.asked()).toBe(1);
});

test('who has left asks for nothing any more', async () => {
  const asked = Promise.withResolvers<void>();
  const hungUp = Promise.withResolvers<void>();
  const held: Answer = (_, response) => {
    response.once('close', hungUp.resolve);
    asked.resolve();
  };
  await using ingress = await startIngress([status(200, 'null'), held]);
  const session = await restateSessions({ ingress: ingress.url }).open();
  const events = session.events()[Symbol.asyncIterator]();
  const next = events.next();
  await asked.promise;
  await events.return?.();
  await hungUp.promise;
  expect(await next).toEqual({ done: true, value: undefined });
  expect(ingress.asked()).toBe(2);

  const left = new AbortController();
  const broken: Answer = (request) => {
    request.socket.destroy();
    left.abort();
  };
  await using lost = await startIngress([broken]);
  await expect(lost.call(undefined, left.signal)).rejects.toMatchObject({ name: 'AbortError' });
  expect(lost.asked()).toBe(1);
});

test('a reader whose engine says no more is told, and listens to no worker any more', async () => {
  const listening = Promise.withResolvers<void>();
  const hungUp = Promise.withResolvers<void>();
  const worker: Answer = (_, response) => {
    response.once('close', hungUp.resolve);
    response.writeHead(200).write('\n');
    listening.resolve();
  };
  await using live = await startIngress([worker]);
  await using ingress = await startIngress([status(200, 'null'), status(500, 'gone')]);
  const session = await restateSessions({ ingress: ingress.url, live: [live.url] }).open();
  const events = session.events({ from: 'turn' })[Symbol.asyncIterator]();
  expect(await events.next()).toMatchObject({ value: { type: 'joined' } });
  await listening.promise;
  await expect(events.next()).rejects.toMatchObject({ code: 'engine-error' });
  await hungUp.promise;
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

test('what is no plain JSON, and options that are none, are refused before anything is sent', async () => {
  await using ingress = await startIngress([]);
  const session = await restateSessions({ ingress: ingress.url }).open();
  for (const value of [Number.NaN, 1n, new Date(), new Map(), undefined]) {
    await expect(session.respond('c', value as never)).rejects.toMatchObject({ code: 'invalid-input' });
    if (value !== undefined)
      await expect(session.approve('c', { input: { value } as never })).rejects.toMatchObject({
        code: 'invalid-input',
      });
  }
  for (const given of [null, 5, [], { id: 5 }, { id: '' }, { nothing: 1 }] as never[]) {
    const all = [
      session.send('x', given),
      session.approve('c', given),
      session.reject('c', given),
      session.respond('c', 1, given),
      session.cancel('c', given),
      session.stop('x', given),
      session.retry(given),
    ];
    for (const each of all) await expect(each).rejects.toMatchObject({ code: 'invalid-option' });
    expect(() => session.events(given)).toThrow(/^events: /);
  }
  expect(() => session.events({ from: 'then' } as never)).toThrow(/option "from"/);
  await expect(session.cancel(5 as never)).rejects.toMatchObject({ code: 'unknown-call' });
  await expect(session.stop(1n as never)).rejects.toMatchObject({ code: 'invalid-option' });
  expect(ingress.asked()).toBe(0);
});

test('what is larger than the engine takes is not sent again, and said to be', async () => {
  const hangUp: Answer = (request) => request.socket.destroy();
  await using ingress = await startIngress([hangUp, status(200)]);
  await expect(ingress.call('€'.repeat(11_500_000))).rejects.toMatchObject({
    code: 'engine-error',
    message: expect.stringContaining('larger than 32 MiB'),
  });
  expect(ingress.asked()).toBe(1);
});
