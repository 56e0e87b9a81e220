import { type RunnableEffect, fromEffect } from '../actors/effect.ts';
import type { EffectParts, Effects } from './effects.ts';
import { loadWorkings, workings } from './load-workings.ts';

/** The effects of an agent, whose work is loaded when one of them is first asked for. */
export const lateEffects = (parts: EffectParts): Effects => {
  let effects: Effects | undefined;
  const late = <TOutput, TInput>(of: (effects: Effects) => RunnableEffect<TOutput, TInput>) =>
    fromEffect<TOutput, TInput>((scope) => {
      effects ??= workings()?.createEffects(parts);
      if (effects !== undefined) return of(effects).run(scope);
      return loadWorkings().then(({ createEffects }) => {
        effects ??= createEffects(parts);
        return of(effects).run(scope);
      });
    });
  return {
    check: late(({ check }) => check),
    tool: late(({ tool }) => tool),
    model: late(({ model }) => model),
    checkOutput: late(({ checkOutput }) => checkOutput),
    stopWhen: late(({ stopWhen }) => stopWhen),
  };
};
