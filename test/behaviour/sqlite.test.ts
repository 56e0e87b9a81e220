import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { storeBackend } from './store-backend.ts';
import { behaviour } from './suite.ts';

describe('over a store', () =>
  behaviour('SQLite', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agentchart-behaviour-'));
    return storeBackend(
      () => sqliteStore(join(folder, 'sessions.db')),
      () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
    );
  }));
