import { rm } from 'node:fs/promises';
import { Client, Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { postgresStore } from '../../src/stores/postgres-store.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { crashEverywhere } from '../../src/testing/crash-everywhere.ts';
import { commitOf } from '../../src/testing/store-case.ts';
import { storeContract } from '../../src/testing/store-contract.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { rejection } from '../support/sessions.ts';
import { scenarios, worldFolder } from '../testing/scenarios.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
  await rm(worldFolder, { recursive: true, force: true, maxRetries: 3 });
});

const session = { agent: 'agent', sessionId: 'one' };

const ask = async (url: string, sql: string): Promise<void> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
};

/** The address of a new, empty database. */
const newDatabase = async (name: string): Promise<string> => {
  await ask(server.url, `create database ${name}`);
  return server.url.replace(/postgres$/, name);
};

const noticeOf = (store: SessionStore, sessionId: string): Promise<void> =>
  new Promise((resolve) => {
    const end = store.watch?.(sessionId, () => {
      end?.();
      resolve();
    });
  });

describe('postgresStore', () => {
  test.each(storeContract)('$name', ({ run }) => run(() => postgresStore({ connectionString: server.url })));
});

test('many stores may begin one database at once', async () => {
  const connectionString = await newDatabase('begun_at_once');
  const stores = Array.from({ length: 6 }, () => postgresStore({ connectionString }));
  await Promise.all(stores.map((store, index) => store.commit(commitOf({ agent: 'agent', sessionId: `${index}` }, 1))));
  expect(await stores[0]?.list()).toHaveLength(6);
  await Promise.all(stores.map((store) => store.close()));
});

test('stricter transactions than usual change nothing', async () => {
  const options = encodeURIComponent('-c default_transaction_isolation=serializable');
  const connectionString = `${server.url}?options=${options}`;
  for (const { name, run } of storeContract) {
    if (name.includes('at once')) await run(() => postgresStore({ connectionString }));
  }
  expect(storeContract.filter(({ name }) => name.includes('at once'))).not.toEqual([]);
});

test('a schema of a newer version is refused', async () => {
  const connectionString = await newDatabase('newer');
  const store = postgresStore({ connectionString });
  await store.commit(commitOf(session, 1));
  await ask(connectionString, 'update agentchart.schema_version set version = 99');
  await store.close();
  const later = postgresStore({ connectionString });
  expect(await rejection(later.read('one'))).toMatchObject({
    code: 'store-error',
    message: expect.stringContaining('newer version of this package: 99, this one knows 2'),
  });
  await later.close();
});

test('close waits for what is under way, ends its own pool and leaves a given one open', async () => {
  const pool = new Pool({ connectionString: server.url });
  const given = postgresStore({ pool });
  expect(await given.read('nobody')).toBeUndefined();
  await given.close();
  await given.close();
  expect(await rejection(given.read('nobody'))).toMatchObject({ code: 'store-error' });
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await pool.end();
  const own = postgresStore({ connectionString: server.url });
  const committed = own.commit(commitOf({ agent: 'agent', sessionId: 'closing' }, 1));
  await own.close();
  await own.close();
  await committed;
});

test('a watcher of a given pool hears through a connection of its own', async () => {
  const pool = new Pool({ connectionString: server.url, max: 1 });
  const store = postgresStore({ pool });
  await store.commit(commitOf({ agent: 'agent', sessionId: 'watched' }, 1));
  const notice = noticeOf(store, 'watched');
  await store.post('watched', { type: 'turn.stop' });
  await notice;
  await store.delete('watched');
  await store.close();
  await pool.end();
});

test('a store that is closed opens no connection for those who watch it afterwards', async () => {
  const pool = new Pool({ connectionString: server.url, max: 1 });
  const store = postgresStore({ pool });
  await store.close();
  const ask = vi.spyOn(pool, 'query');
  store.watch?.('one', () => undefined)();
  store.watch?.('one', () => undefined);
  expect(ask).not.toHaveBeenCalled();
  await pool.end();
});

test('it takes an address or a pool, and not both', () => {
  for (const place of [{}, { connectionString: 1 }, { connectionString: 'postgres://x', pool: new Pool() }]) {
    expect(() => postgresStore(place as never)).toThrowError(expect.objectContaining({ code: 'invalid-option' }));
  }
});

test('while the server is away every call rejects; afterwards the store works and watches again', async () => {
  const connectionString = await newDatabase('away');
  const store = postgresStore({ connectionString });
  const poster = postgresStore({ connectionString });
  await store.commit(commitOf(session, 1));
  const first = noticeOf(store, 'one');
  await poster.post('one', { type: 'turn.stop', reason: '1' });
  await first;
  await store.commit(commitOf(session, 2, { taken: (await store.inbox('one')).map(({ id }) => id) }));

  const second = noticeOf(store, 'one');
  await server.halt();
  try {
    for (const call of [() => store.read('one'), () => store.commit(commitOf(session, 3)), () => store.list()]) {
      expect(await rejection(call())).toMatchObject({
        code: 'store-error',
        message: expect.stringMatching(/^PostgreSQL: ./),
      });
    }
  } finally {
    await server.resume();
  }
  await store.commit(commitOf(session, 3));
  expect(await store.read('one')).toMatchObject({ revision: 3 });
  await poster.post('one', { type: 'turn.stop', reason: '2' });
  await second;
  await store.close();
  await poster.close();
});

test('R38: killed beside some commits and effects, a session comes to the same end', async () => {
  const store = () => postgresStore({ connectionString: server.url });
  const weather = await crashEverywhere(scenarios.weather, { store, points: ({ when }) => when === 'after' });
  expect(weather).toMatchObject({ unknown: 0, missed: 0 });
  expect(weather.crashes).toBeGreaterThan(5);
  const decisions = await crashEverywhere(scenarios.decisions, {
    store,
    points: ({ what, number, when }) => what === 'commit' && number % 3 === 0 && when === 'before',
  });
  expect(decisions.unknown).toBe(0);
  expect(decisions.crashes).toBeGreaterThan(2);
});
