import { existsSync } from 'node:fs';
import { AgentError, errorData } from '../errors.ts';
import { sqliteStore } from '../stores/sqlite-store.ts';
import type { SessionStore } from '../stores/store.ts';
import { UsageError } from './usage-error.ts';

export const isPostgres = (place: string): boolean => /^postgres(ql)?:/.test(place);

const openPostgres = async (connectionString: string): Promise<SessionStore> => {
  try {
    const { postgresStore } = await import('../stores/postgres-store.ts');
    return postgresStore({ connectionString });
  } catch (error) {
    const { code, message } = errorData(error);
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes("'pg'")) throw error;
    throw new AgentError('store-error', 'PostgreSQL needs the package pg: npm install pg', { cause: error });
  }
};

/** The store of `--store` or AGENTCHART_STORE: the path of an SQLite file, or a PostgreSQL URL. */
export const openStore = async (
  given: string | undefined,
  { mayCreate }: { mayCreate: boolean },
): Promise<SessionStore> => {
  const place = given ?? process.env['AGENTCHART_STORE'] ?? '';
  if (place === '') {
    throw new UsageError(
      'Say where the sessions are: --store <path of an SQLite file, or postgres://…>, or set AGENTCHART_STORE.',
    );
  }
  if (isPostgres(place)) return await openPostgres(place);
  if (!mayCreate && !existsSync(place))
    throw new UsageError(`There is no file ${place}; give the path that the agent's store has.`);
  return sqliteStore(place);
};
