import { type Patch, diff } from './patch.ts';

/** One place in a context that is other than before. */
export interface Change {
  path: string;
  before: unknown;
  after: unknown;
}

const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

/** What changed between two contexts, innermost places first told. Reads only what is new. */
export const changesBetween = (before: unknown, after: unknown): Change[] => {
  const patch = diff(before, after);
  return patch === undefined ? [] : walk(patch, '', before, after);
};

const walk = (patch: Patch, path: string, before: unknown, after: unknown): Change[] => {
  const inside = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if ('o' in patch || 'l' in patch) {
    const inner = 'o' in patch ? patch.o : patch.l;
    const changes = Object.entries(inner).flatMap(([key, change]) =>
      walk(change, inside(key), at(before, key), at(after, key)),
    );
    const gone = 'o' in patch ? (patch.d ?? []) : [];
    const removed = gone.map((key) => ({ path: inside(key), before: at(before, key), after: undefined }));
    if ('o' in patch) return [...changes, ...removed];
    const added = (patch.a ?? []).map((item, index) => ({
      path: inside(String(patch.n + index)),
      before: undefined,
      after: item,
    }));
    const lost =
      Array.isArray(before) && before.length > patch.n
        ? before
            .slice(patch.n)
            .map((item: unknown, index) => ({ path: inside(String(patch.n + index)), before: item, after: undefined }))
        : [];
    return [...changes, ...lost, ...added];
  }
  return [{ path, before, after }];
};
