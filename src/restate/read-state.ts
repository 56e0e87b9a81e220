import { type ObjectContext, type ObjectSharedContext, RestatePromise } from '@restatedev/restate-sdk';
import { type Head, placeOf } from './head.ts';
import { type KnownSession, advanced, sinceOf } from './known-session.ts';
import type { KnownSessions } from './known-sessions.ts';
import { type Chunks, chunksAfter, textsAfter } from './log.ts';
import { type Reading, type Since, nothingYet } from './protocol.ts';

/** What a worker does not have in memory has to be read first. */
export interface Lacking {
  lacks: Since;
}

export const isLacking = <T extends object>(given: T | Lacking): given is Lacking => 'lacks' in given;

type Reader = Pick<ObjectContext | ObjectSharedContext, 'get'>;

type Found<T extends readonly unknown[]> = { -readonly [Index in keyof T]: T[Index] | null };

/** All at once: each takes a way to the engine and back. */
export const getAll = async <T extends readonly unknown[]>(
  ctx: Reader,
  keys: { readonly [Index in keyof T]: string },
): Promise<Found<T>> => {
  const found: unknown = await RestatePromise.all(keys.map((key) => ctx.get(key) as RestatePromise<unknown>));
  return found as Found<T>;
};

export const readChunks = async (ctx: Reader, head: Head, since: Since): Promise<Chunks> => {
  const keys = chunksAfter(head.log, since);
  const found = await getAll<string[][]>(ctx, keys);
  const pairs = keys.map((key, index) => [key, found[index] ?? undefined] as const);
  return Object.fromEntries(pairs.filter((pair): pair is [string, string[]] => pair[1] !== undefined));
};

export const readingOf = (head: Head, since: Since, chunks: Chunks): Reading | undefined => {
  const texts = textsAfter(head.log, since, chunks);
  const { birth, commitId, summary } = head;
  return texts === undefined ? undefined : { birth, commitId, summary, ...texts };
};

/** The session as the head has it, from memory and from what was read. */
export const knownAt = (
  sessions: KnownSessions,
  key: string,
  head: Head,
  chunks: Chunks,
): KnownSession | undefined | Lacking => {
  const place = placeOf(head);
  const known = sessions.find(key, place);
  if (known?.commitId === place.commitId) return known;
  for (const base of known === undefined ? [undefined] : [known, undefined]) {
    const reading = readingOf(head, sinceOf(base), chunks);
    if (reading === undefined) continue;
    const now = advanced(base, reading);
    sessions.keep(key, now);
    return now;
  }
  return { lacks: known === undefined ? nothingYet : sinceOf(known) };
};
