import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { SessionStore } from '../stores/store.ts';
import { openStore, isPostgres } from './open-store.ts';
import { UsageError } from './usage-error.ts';

export const inspectUsage = `agentchart inspect [PLACE]   a page of a recording, or of all sessions of a store
  PLACE                   a recording, an SQLite file or postgres://…; default: AGENTCHART_STORE
  --store PLACE           the same, for a store
  --port NUMBER           of the page; default: any free one
  --print                 as lines here, without a page (default where the output is no terminal)
`;

const options = {
  store: { type: 'string' },
  port: { type: 'string' },
  print: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const sqliteMagic = 'SQLite format 3\0';

const isSqlite = (path: string): boolean => {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(sqliteMagic.length);
    readSync(file, head, 0, head.length, 0);
    return head.toString('latin1') === sqliteMagic;
  } finally {
    closeSync(file);
  }
};

/** Of a recording there is a file that is no database; all else is a store. */
const isRecording = (place: string): boolean => !isPostgres(place) && existsSync(place) && !isSqlite(place);

const portOf = (given: string | undefined): number => {
  const port = Number(given ?? 0);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(`--port must be a whole number from 0 to 65535, not ${String(given)}.`);
};

export interface InspectOptions {
  output?: NodeJS.WritableStream & { isTTY?: boolean };
  /** Ends a page that is being served. */
  signal: AbortSignal;
}

/** Carries out `agentchart inspect`; gives the exit status. */
export const inspect = async (
  args: readonly string[],
  { output = process.stdout, signal }: InspectOptions,
): Promise<number> => {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help === true) {
    output.write(inspectUsage);
    return 0;
  }
  const [given, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`There is no place for "${String(rest[0])}".`);
  if (given !== undefined && values.store !== undefined)
    throw new UsageError('Give one place: as it is, or by --store.');
  const port = portOf(values.port);
  const isPrinted = values.print === true || (output.isTTY !== true && values.port === undefined);
  const { inspectCommand, inspectStore } = await import('../inspector/server/inspect-command.ts');
  if (given !== undefined && isRecording(given)) {
    const flags = isPrinted ? ['--print'] : ['--port', String(port)];
    return await inspectCommand([given, ...flags], { output, signal });
  }
  const store: SessionStore = await openStore(given ?? values.store, { mayCreate: false });
  try {
    await inspectStore(store, { port, isPrinted, output, signal });
    return 0;
  } finally {
    await store.close();
  }
};
