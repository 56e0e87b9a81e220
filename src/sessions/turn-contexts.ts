import type { AnyActorRef } from 'xstate';
import type { AgentContext } from '../machines/agent-context.ts';
import type { Message } from '../messages/message.ts';
import type { ToolChange } from '../tools/call.ts';
import type { ToolFinder } from '../tools/tool-finder.ts';
import type { ContextProvider, HistoryProvider } from './context-provider.ts';
import { pipeline } from './load-pipeline.ts';

/** What holds for one turn of one session. */
export interface TurnContext {
  instructions: string[];
  /** Sent in this turn only. */
  passing: Message[];
  /** Sent behind what the turn was asked, and kept by the session. */
  kept: Message[];
  /** Said in earlier turns, and kept elsewhere; undefined without a history provider. */
  loaded: Message[] | undefined;
  toolChanges: ToolChange[];
}

export interface TurnContexts {
  /** What holds for the turn under way; the providers are asked once. Undefined where there are none. */
  ask(agent: AnyActorRef, signal?: AbortSignal): Promise<TurnContext> | undefined;
  /** Of a turn that is over: who is asked next is asked anew. */
  forget(agent: AnyActorRef): void;
}

interface Asked {
  turn: number;
  answer: Promise<TurnContext>;
  controller: AbortController;
}

export interface TurnContextOptions {
  providers: readonly ContextProvider[];
  history: HistoryProvider | undefined;
  tools: ToolFinder;
  contextOf(agent: AnyActorRef): AgentContext;
  /** Settles when the turns before are told of. */
  told(agent: AnyActorRef): Promise<unknown> | undefined;
}

/**
 * Asks context providers and the history provider once a turn (R47). What they give may be live, so it is kept beside the session's
 * state and asked for again after a restore.
 */
export const createTurnContexts = (options: TurnContextOptions): TurnContexts => {
  const { providers, history, tools, contextOf, told } = options;
  const asked = new WeakMap<AnyActorRef, Asked>();

  const begin = async (agent: AnyActorRef, signal: AbortSignal): Promise<TurnContext> => {
    await told(agent);
    const { askProviders } = await pipeline();
    // Meanwhile another turn may be under way.
    signal.throwIfAborted();
    return askProviders(agent, contextOf(agent), signal, { providers, history, tools });
  };

  return {
    ask: (agent, signal) => {
      if (providers.length === 0 && history === undefined) return undefined;
      const { number } = contextOf(agent).turn;
      let known = asked.get(agent);
      if (known?.turn !== number) {
        const controller = new AbortController();
        known = { turn: number, controller, answer: begin(agent, controller.signal) };
        asked.set(agent, known);
        const mine = known;
        // The next try asks again.
        known.answer.catch(() => {
          if (asked.get(agent) === mine) asked.delete(agent);
        });
      }
      const { controller } = known;
      signal?.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
      return known.answer;
    },
    forget: (agent) => {
      asked.get(agent)?.controller.abort();
      asked.delete(agent);
    },
  };
};
