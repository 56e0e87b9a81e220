import type * as parts from './workings.ts';

export type Workings = typeof parts;

let known: Workings | undefined;
let loading: Promise<Workings> | undefined;

/** What sessions work with; undefined until it has been loaded once. */
export const workings = (): Workings | undefined => known;

/** Loads what sessions work with. Where that fails, whoever asks next tries again. */
export const loadWorkings = (): Promise<Workings> => {
  loading ??= import('./workings.ts').then(
    (loaded) => {
      known = loaded;
      return loaded;
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
};
