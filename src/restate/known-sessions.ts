import { LRUCache } from 'lru-cache';
import type { KnownSession } from './known-session.ts';

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
}

interface Entry {
  known: KnownSession;
  /** What to fall back to where `known` came to nothing. */
  before?: KnownSession | undefined;
  isExpected: boolean;
}

/** Characters of all sessions together. */
const room = 64_000_000;

export const createKnownSessions = (): KnownSessions => {
  const sessions = new LRUCache<string, Entry>({
    maxSize: room,
    sizeCalculation: ({ known }) => known.size + known.lengths.whole + 1,
  });
  /** Who asks for a commit has seen it. Who asks for the last one and not for the one that was expected knows that this came to nothing. */
  const believed = (key: string, commitId: string, isLast: boolean): KnownSession | undefined => {
    const entry = sessions.get(key);
    if (entry === undefined || !entry.isExpected) return entry?.known;
    const isSeen = entry.known.commitId === commitId;
    const found = isSeen ? entry.known : entry.before;
    if (found !== undefined && (isSeen || isLast)) sessions.set(key, { known: found, isExpected: false });
    return found;
  };
  return {
    find: (key, { birth, commitId, revision }, orLater = false) => {
      const known = believed(key, commitId, !orLater);
      if (known === undefined || known.birth !== birth) return undefined;
      const isLater = known.commitId !== commitId && known.summary.revision >= revision;
      return isLater && !orLater ? undefined : known;
    },
    keep: (key, known) => {
      sessions.set(key, { known, isExpected: false });
    },
    expect: (key, before, next) => {
      sessions.set(key, { known: next, before, isExpected: true });
    },
  };
};
