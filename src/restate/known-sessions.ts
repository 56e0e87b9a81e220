import { LRUCache } from 'lru-cache';
import type { KnownSession } from './known-session.ts';
import type { LiveSession } from './live-session.ts';

/** Which commit of which session. */
export interface Place {
  birth: string;
  commitId: string;
  revision: number;
}

/** The sessions that a worker had to do with last, as they were then. */
export interface KnownSessions {
  /** The session at that commit or at an earlier one; with `orLater` also at a later one. */
  find(key: string, place: Place, orLater?: boolean): KnownSession | undefined;
  /** What was read is what the engine has. */
  keep(key: string, known: KnownSession): void;
  /** A step that is recorded, and whose commit may still come to nothing: it is believed when somebody else has seen it. */
  expect(key: string, before: KnownSession | undefined, next: KnownSession): void;
  /** Whether somebody has seen the commit of what `find` gave. */
  isSure(key: string, known: KnownSession): boolean;
  /** The actor of what `find` gave, made where there is none at rest. */
  live(key: string, known: KnownSession, make: () => LiveSession): LiveSession;
  /** The same for one who moves it: until it is put back nobody else sees it. */
  take(key: string, known: KnownSession, make: () => LiveSession): LiveSession;
  /** It has come to that commit, and it is recorded that it has; undefined where it is of no use any more. */
  putBack(key: string, commitId: string, live: LiveSession | undefined): void;
}

interface Entry {
  known: KnownSession;
  /** What to fall back to where `known` came to nothing. */
  before?: KnownSession | undefined;
  isExpected: boolean;
  live?: LiveSession | undefined;
  isTaken?: boolean;
}

/** Characters of all sessions together, and about how many of them an actor is worth. */
const room = 64_000_000;
const ofActor = 20_000;

export const createKnownSessions = (): KnownSessions => {
  const sessions = new LRUCache<string, Entry>({
    maxSize: room,
    sizeCalculation: ({ known }) => known.size + known.lengths.whole + ofActor,
  });
  /** What is known in the end: who asks for the last commit, and not for the one that was expected, knows that this one came to nothing. */
  const entryAt = (key: string, { commitId, birth }: Place, isLast: boolean): Entry | undefined => {
    const entry = sessions.get(key);
    if (entry?.known.birth !== birth) return undefined;
    if (!entry.isExpected) return entry;
    if (entry.known.commitId === commitId) {
      entry.isExpected = false;
      entry.before = undefined;
    }
    if (!entry.isExpected || !isLast) return entry;
    if (entry.before === undefined) return undefined;
    const found: Entry = { known: entry.before, isExpected: false };
    sessions.set(key, found);
    return found;
  };
  return {
    find: (key, place, orLater = false) => {
      const known = entryAt(key, place, !orLater)?.known;
      const isLater = known?.commitId !== place.commitId && (known?.summary.revision ?? 0) >= place.revision;
      return isLater && !orLater ? undefined : known;
    },
    isSure: (key, known) => {
      const entry = sessions.peek(key);
      return entry?.known === known && !entry.isExpected;
    },
    keep: (key, known) => {
      sessions.set(key, { known, isExpected: false });
    },
    expect: (key, before, next) => {
      sessions.set(key, { known: next, before, isExpected: true });
    },
    live: (key, known, make) => {
      const entry = sessions.peek(key);
      if (entry?.known !== known || entry.isTaken === true) return make();
      entry.live ??= make();
      return entry.live;
    },
    take: (key, known, make) => {
      const entry = sessions.peek(key);
      if (entry?.known !== known || entry.isTaken === true) return make();
      const live = entry.live ?? make();
      entry.isTaken = true;
      return live;
    },
    putBack: (key, commitId, live) => {
      const entry = sessions.peek(key);
      if (entry?.known.commitId !== commitId) return;
      entry.live = live;
      entry.isTaken = false;
    },
  };
};
