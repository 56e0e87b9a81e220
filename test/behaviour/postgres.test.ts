import { describe } from 'vitest';
import { postgresStore } from '../../src/stores/postgres-store.ts';
import { startPostgres } from '../support/postgres.ts';
import { storeBackend } from './store-backend.ts';
import { behaviour } from './suite.ts';

describe('over a store', () =>
  behaviour('PostgreSQL', async () => {
    const server = await startPostgres();
    return storeBackend(() => postgresStore({ connectionString: server.url }), server.stop);
  }));
