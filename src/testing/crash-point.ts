/** A moment at which a process may die: beside the third commit, the second model call, … of a run, each counted from 1. */
export interface CrashPoint {
  when: 'before' | 'after';
  what: 'commit' | 'model call' | 'tool run';
  number: number;
}

/** How often each happened in a run. */
export type CrashCounts = Record<CrashPoint['what'], number>;

export const describePoint = ({ when, what, number }: CrashPoint): string => `${when} ${what} ${number}`;

export const isSamePoint = (a: CrashPoint, b: CrashPoint): boolean =>
  a.when === b.when && a.what === b.what && a.number === b.number;

/** Both sides of everything that happened. */
export const pointsOf = (counts: CrashCounts): CrashPoint[] =>
  (['commit', 'model call', 'tool run'] as const).flatMap((what) =>
    Array.from({ length: counts[what] }, (_, index) => index + 1).flatMap((number): CrashPoint[] => [
      { when: 'before', what, number },
      { when: 'after', what, number },
    ]),
  );
