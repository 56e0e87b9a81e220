import type { AgentEvent } from './agent-event.ts';
import { pipeline } from './load-pipeline.ts';
import type { turnSoFar } from './turn-so-far.ts';

/** What a turn has come to: by the snapshot as it is now, also where what tells it has yet to be loaded. */
export const soFarOf = (...given: Parameters<typeof turnSoFar>): AgentEvent[] | Promise<AgentEvent[]> => {
  const loaded = pipeline();
  return loaded instanceof Promise ? loaded.then((parts) => parts.turnSoFar(...given)) : loaded.turnSoFar(...given);
};
