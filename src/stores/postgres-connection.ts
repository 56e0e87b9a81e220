import { Pool, type QueryResultRow } from 'pg';
import { AgentError } from '../errors.ts';
import { prepareSchema } from './postgres-schema.ts';
import { storeError } from './store-error.ts';

/** Where the sessions lie: an address such as `postgres://user:password@host/database`, or a pool that stays yours to close. */
export type PostgresPlace = { connectionString: string; pool?: never } | { pool: Pool; connectionString?: never };

const place = 'PostgreSQL';
const connectTimeout = 10_000;
const attempts = 5;

// Two transactions met; PostgreSQL has undone ours and asks for another try.
const isPassing = (error: unknown): boolean =>
  ['40001', '40P01'].includes(String((error as { code?: unknown } | null)?.code));

const ownPool = (connectionString: string): Pool =>
  new Pool({ connectionString, connectionTimeoutMillis: connectTimeout, keepAlive: true, allowExitOnIdle: true }).on(
    'error',
    // A connection broke while nobody used it: the pool opens another one when it needs one.
    () => undefined,
  );

/** A pool whose database has today's schema. Every failure is a `store-error`, and the next call tries again. */
export class PostgresConnection {
  readonly pool: Pool;
  readonly #isOwn: boolean;
  #prepared: Promise<void> | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor({ connectionString, pool }: PostgresPlace) {
    if ((pool === undefined) === (typeof connectionString !== 'string')) {
      throw new AgentError('invalid-option', 'postgresStore takes either a connectionString or a pool');
    }
    this.#isOwn = pool === undefined;
    this.pool = pool ?? ownPool(connectionString ?? '');
  }

  /** One statement, and so all or nothing. `Row` is what it selects. */
  async rows<Row extends QueryResultRow>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    if (this.#isClosed) throw storeError(place, new Error('the store is closed'));
    const answer = this.#ask<Row>(sql, values);
    this.#underWay.add(answer);
    try {
      return await answer;
    } catch (error) {
      throw storeError(place, error);
    } finally {
      this.#underWay.delete(answer);
    }
  }

  async ready(): Promise<void> {
    this.#prepared ??= prepareSchema(this.pool);
    try {
      await this.#prepared;
    } catch (error) {
      this.#prepared = undefined;
      throw error;
    }
  }

  /** Lets the statements under way come to their end. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
    if (this.#isOwn) await this.pool.end();
  }

  async #ask<Row extends QueryResultRow>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.ready();
        const { rows } = await this.pool.query<Row>(sql, [...values]);
        return rows;
      } catch (error) {
        if (!isPassing(error) || attempt === attempts) throw error;
      }
    }
  }
}
