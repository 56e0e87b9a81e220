import type { AgentEvent } from './agent-event.ts';
import { EventBuffer } from './event-buffer.ts';

/** What went past the chart and is not over: the deltas of the reply under way, and what open calls last showed of their progress. */
export class RecentEvents {
  readonly #reply = new EventBuffer();
  readonly #progress = new Map<string, AgentEvent>();
  // A session that was restored while its model was asked does not say so again.
  #isAsking = true;

  hear(event: AgentEvent): void {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
      case 'tool-input-delta':
        if (this.#isAsking) this.#reply.join(event);
        return;
      case 'step-start':
        this.#reply.clear();
        this.#isAsking = true;
        return;
      case 'step-finish':
      case 'finish':
        // While no reply is under way, agents inside calls speak.
        this.#reply.clear();
        this.#isAsking = false;
        return;
      case 'tool-progress':
        this.#progress.set(event.callId, event);
        return;
      case 'tool-result':
        for (const callId of this.#progress.keys())
          if (callId === event.callId || callId.startsWith(`${event.callId}-`)) this.#progress.delete(callId);
        return;
      default:
    }
  }

  list(): AgentEvent[] {
    return [...this.#reply.list(), ...this.#progress.values()];
  }
}
