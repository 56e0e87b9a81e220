/** Commits of one session, one at a time, each of the newest state: what changes while one is under way is in the next. */
export interface CommitQueue {
  /** Begins one, or shares the one that waits already, or the one under way where that has all there is. */
  commit(): Promise<void>;
  isIdle(): boolean;
  /** Settles with the commit that was asked for last; at once where none is under way. */
  idle(): Promise<void>;
}

/** `hasAll` says of the commit under way whether another one after it would find nothing new. */
export const createCommitQueue = (write: () => Promise<void>, hasAll: () => boolean = () => false): CommitQueue => {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    const work = write();
    const over = (): void => {
      if (current === work) current = undefined;
    };
    current = work;
    work.then(over, over);
    return work;
  };
  const commit = (): Promise<void> => {
    // Asked first: between the end of one and the start of the next neither is under way.
    if (next !== undefined) return next;
    if (current === undefined) return begin();
    // Where it fails whoever shares it tries for himself.
    if (hasAll()) return current.catch(commit);
    next = current.then(begin, begin);
    return next;
  };
  return {
    commit,
    isIdle: () => next === undefined && current === undefined,
    idle: async () => next ?? current,
  };
};
