import type { AnyActorRef } from 'xstate';
import { hostOf } from '../actors/host.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { checkMessages } from '../messages/check-message.ts';
import { copyJson } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import { type ToolChange, providedKey } from '../tools/call.ts';
import type { ToolFinder } from '../tools/tool-finder.ts';
import { type Provided, checkProvided, providerError } from './check-provided.ts';
import type { ContextProvider, HistoryProvider } from './context-provider.ts';
import { conversationOf } from './conversation-of.ts';
import { checkOne, isList } from './option-bounds.ts';

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

  /** Keeps the tools under names that are the same after a restore. */
  const keepTools = (provided: readonly Provided[], { sessionId, turn }: AgentContext): ToolChange[] => {
    const names = new Set<string>();
    return provided.flatMap((each, index) =>
      each.tools.map((tool) => {
        if (names.has(tool.name) || tools.find({ tool: tool.name }) !== undefined) {
          const who = `context provider "${providers[index]?.name ?? index}"`;
          throw providerError(who, new TypeError(`another tool is named "${tool.name}" already: rename one of them`));
        }
        names.add(tool.name);
        const toolKey = providedKey(sessionId, turn.number, tool.name);
        tools.keep(toolKey, tool);
        return { name: tool.name, toolKey };
      }),
    );
  };

  const begin = async (agent: AnyActorRef, signal: AbortSignal): Promise<TurnContext> => {
    await told(agent);
    const context = contextOf(agent);
    const { sessionId, turn } = context;
    const about = { sessionId, turn: turn.number, context: hostOf(agent).context(), signal };
    const load = async (): Promise<Message[] | undefined> => {
      if (history === undefined) return undefined;
      try {
        const loaded = await history.load(about);
        checkOne(loaded, isList, 'what load gives');
        return loaded.length === 0 ? [] : checkMessages(loaded);
      } catch (error) {
        throw providerError('history provider', error);
      }
    };
    const loaded = await load();
    const messages = conversationOf(context, loaded);
    const provided = await Promise.all(
      providers.map(async (provider) => {
        try {
          // A copy: what a provider does to it is not said in the session (R48).
          return checkProvided(await provider.beforeTurn?.({ ...about, messages: copyJson(messages) }));
        } catch (error) {
          throw providerError(`context provider "${provider.name}"`, error);
        }
      }),
    );
    return {
      instructions: provided.flatMap(({ instructions }) => instructions ?? []),
      passing: provided.flatMap((each) => (each.store ? [] : each.messages)),
      kept: provided.flatMap((each) => (each.store ? each.messages : [])),
      loaded,
      toolChanges: keepTools(provided, context),
    };
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
