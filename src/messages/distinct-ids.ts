/**
 * Gives every call an id of its own: the wanted one where it is free, else the wanted one with `_2`, `_3`, … The answer depends on
 * the earlier answers only, so a longer list begins with the ids of a shorter one. Ids in `avoid` are given only to who wants them.
 */
export const createDistinctIds = (avoid: ReadonlySet<string> = new Set()): ((wanted: string) => string) => {
  const used = new Set<string>();
  const lastSuffix = new Map<string, number>();
  return (wanted) => {
    const base = wanted === '' ? 'call' : wanted;
    let id = base;
    let suffix = lastSuffix.get(base) ?? 1;
    while (used.has(id) || (id !== wanted && avoid.has(id))) {
      suffix += 1;
      id = `${base}_${suffix}`;
    }
    lastSuffix.set(base, suffix);
    used.add(id);
    return id;
  };
};
