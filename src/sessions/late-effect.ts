import { type RunnableEffect, fromEffect } from '../actors/effect.ts';
import { type Workings, loadWorkings, workings } from './load-workings.ts';

/** An effect whose work is loaded when it is first asked for. */
export const lateEffect = <TOutput, TInput>(
  make: (loaded: Workings) => RunnableEffect<TOutput, TInput>,
): RunnableEffect<TOutput, TInput> => {
  let effect: RunnableEffect<TOutput, TInput> | undefined;
  const madeWith = (loaded: Workings): RunnableEffect<TOutput, TInput> => (effect ??= make(loaded));
  return fromEffect<TOutput, TInput>((scope) => {
    const loaded = workings();
    return loaded === undefined ? loadWorkings().then((now) => madeWith(now).run(scope)) : madeWith(loaded).run(scope);
  });
};
