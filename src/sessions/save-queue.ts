/** Saves of one session, one at a time: no store gets an older state after a newer one. */
export interface SaveQueue {
  /** Begins at once where none is under way; else one that waits already is shared, and takes what is newest then. */
  save(): Promise<void>;
  /** Resolves when nothing is being saved; never rejects. */
  idle(): Promise<void>;
}

export const createSaveQueue = (write: () => Promise<void>): SaveQueue => {
  let saving: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    return write();
  };
  const follow = (work: Promise<void>): Promise<void> => {
    const over = work
      .catch(() => undefined)
      .then(() => {
        if (saving === over) saving = undefined;
      });
    saving = over;
    return work;
  };
  return {
    save: () => {
      if (saving === undefined) return follow(begin());
      next ??= follow(saving.then(begin));
      return next;
    },
    idle: async () => saving,
  };
};
