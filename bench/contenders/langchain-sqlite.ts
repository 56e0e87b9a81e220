import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import type { Contender } from '../harness/contender.ts';
import { langchain } from './langchain.ts';

const bound = (values: unknown[]): SQLInputValue[] => values.map((value) => (value ?? null) as SQLInputValue);

/**
 * The saver on Node's own SQLite, as ours is. The better-sqlite3 that it brings (12.11) ends the process with an assertion on Node 24.21
 * when an object of it is collected.
 */
export const openSaver = (path: string): SqliteSaver => {
  const database = new DatabaseSync(path);
  const standIn = {
    pragma: (text: string) => database.exec(`PRAGMA ${text}`),
    exec: (text: string) => database.exec(text),
    prepare: (text: string) => {
      const statement = database.prepare(text);
      return {
        run: (...values: unknown[]) => statement.run(...bound(values)),
        get: (...values: unknown[]) => statement.get(...bound(values)),
        all: (...values: unknown[]) => statement.all(...bound(values)),
      };
    },
    transaction:
      <A extends unknown[]>(work: (...given: A) => void) =>
      (...given: A) => {
        database.exec('BEGIN');
        try {
          work(...given);
          database.exec('COMMIT');
        } catch (error) {
          database.exec('ROLLBACK');
          throw error;
        }
      },
    close: () => database.close(),
  };
  return new SqliteSaver(standIn as never);
};

const folder = mkdtempSync(join(tmpdir(), 'bench-langchain-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

// Its paused runs are in a file: they have no place among those that are held in memory.
const { pause: _, ...rest } = langchain(() => {
  files += 1;
  return openSaver(join(folder, `${files}.db`));
});

export const contender: Contender = {
  ...rest,
  isStored: true,
  packages: ['langchain', '@langchain/langgraph-checkpoint-sqlite'],
};
