import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import type { SessionStore } from '../stores/store.ts';
import { openStore, isPostgres } from './open-store.ts';
import { UsageError } from './usage-error.ts';

export const inspectUsage = `agentchart inspect [PLACE]   a page of a recording, or of all sessions of a store
  PLACE                   a recording, an SQLite file or postgres://…; default: AGENTCHART_STORE
  --store PLACE           the same, for a store
  --port NUMBER           of the page; default: any free one
  --print                 as lines here, without a page (default where the output is no terminal)
`;

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

export interface InspectFlags {
  store?: string | undefined;
  port?: string | undefined;
  print?: boolean | undefined;
}

export interface InspectOptions {
  output?: NodeJS.WritableStream & { isTTY?: boolean };
  /** Ends a page that is being served. */
  signal: AbortSignal;
}

/** Carries out `agentchart inspect [PLACE]`. */
export const inspect = async (
  place: string | undefined,
  flags: InspectFlags,
  { output = process.stdout, signal }: InspectOptions,
): Promise<void> => {
  if (place !== undefined && flags.store !== undefined)
    throw new UsageError('Give one place: as it is, or by --store.');
  const port = portOf(flags.port);
  const isPrinted = flags.print === true || (output.isTTY !== true && flags.port === undefined);
  const how = { port, isPrinted, output, signal };
  if (place !== undefined && isRecording(place)) {
    const { inspectRecording } = await import('../inspector/server/inspect-recording.ts');
    return await inspectRecording(place, how);
  }
  const { inspectStore } = await import('../inspector/server/inspect-store.ts');
  const store: SessionStore = await openStore(place ?? flags.store, { mayCreate: false });
  try {
    await inspectStore(store, how);
  } finally {
    await store.close();
  }
};
