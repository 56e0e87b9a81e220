import type { AgentEvent } from './agent-event.ts';
import { createEventBuffer } from './event-buffer.ts';

/** What went past the chart and is not over: the deltas of the reply under way, and what open calls last showed of their progress. */
export interface RecentEvents {
  hear(event: AgentEvent): void;
  list(): AgentEvent[];
}

export const createRecentEvents = (): RecentEvents => {
  const reply = createEventBuffer();
  const progress = new Map<string, AgentEvent>();
  // A session that was restored while its model was asked does not say so again.
  let isAsking = true;
  return {
    hear: (event) => {
      switch (event.type) {
        case 'step-start':
          reply.clear();
          isAsking = true;
          return;
        case 'step-finish':
        case 'finish':
          // While no reply is under way, agents inside calls speak.
          reply.clear();
          isAsking = false;
          return;
        case 'text-delta':
        case 'reasoning-delta':
        case 'tool-input-delta':
          if (isAsking) reply.join(event);
          return;
        case 'tool-progress':
          progress.set(event.callId, event);
          return;
        case 'tool-result':
          for (const callId of progress.keys())
            if (callId === event.callId || callId.startsWith(`${event.callId}-`)) progress.delete(callId);
          return;
        default:
      }
    },
    list: () => [...reply.list(), ...progress.values()],
  };
};
