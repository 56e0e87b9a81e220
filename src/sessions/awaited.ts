/**
 * What somebody waits for. Who waits is held only by what he waits for: a session that nobody else holds would be collected with the loop
 * that reads its events, and the loop would never hear of anything again.
 */
const awaited = new Map<object, object>();

/** `held` lives from now on, for the sake of `who`. */
export const holdFor = (who: object, held: object): void => {
  awaited.set(who, held);
};

export const letGoFor = (who: object): void => {
  awaited.delete(who);
};

/** `held` lives until the work has come to its end; where it rejects, and nobody waits for it, nobody is told. */
export const heldDuring = <T>(work: Promise<T>, held: object): Promise<T> => {
  holdFor(work, held);
  const over = (): void => letGoFor(work);
  work.then(over, over);
  return work;
};
