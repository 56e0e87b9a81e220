import { type Workings, loadWorkings, workings } from './load-workings.ts';
import type { TurnContextOptions, TurnContexts } from './turn-contexts.ts';

/** What providers give to turns; nothing of it is loaded where there are none. */
export const createLateTurnContexts = (options: TurnContextOptions): TurnContexts => {
  const { providers, history } = options;
  if (providers.length === 0 && history === undefined) return { ask: () => undefined, forget: () => undefined };
  let contexts: ReturnType<Workings['createTurnContexts']> | undefined;
  return {
    ask: (agent, signal) => {
      contexts ??= workings()?.createTurnContexts(options);
      if (contexts !== undefined) return contexts.ask(agent, signal);
      return loadWorkings().then(({ createTurnContexts }) => {
        contexts ??= createTurnContexts(options);
        return contexts.ask(agent, signal);
      });
    },
    forget: (agent) => contexts?.forget(agent),
  };
};
