import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { storeContract } from '../../src/testing/store-contract.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-stores-'));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

describe('memoryStore', () => {
  const store = memoryStore();
  test.each(storeContract)('$name', ({ run }) => run(() => store));
});

describe('sqliteStore', () => {
  test.each(storeContract)('$name', ({ run }) => run(() => sqliteStore(join(folder, 'sessions.db'))));
});
