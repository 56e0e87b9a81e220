import type { AnyActorRef } from 'xstate';
import { hostOf } from '../actors/host.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { checkMessages } from '../messages/check-message.ts';
import { copyJson } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import { type ToolChange, providedKey } from '../tools/call.ts';
import { type Provided, checkProvided } from './check-provided.ts';
import { conversationOf } from './conversation-of.ts';
import { checkOne, isList } from './option-bounds.ts';
import { providerError } from './provider-error.ts';
import type { TurnContext, TurnContextOptions } from './turn-contexts.ts';

type Asked = Pick<TurnContextOptions, 'providers' | 'history' | 'tools'>;

/** Keeps the tools under names that are the same after a restore. */
const keepTools = (
  provided: readonly Provided[],
  { sessionId, turn }: AgentContext,
  { providers, tools }: Asked,
): ToolChange[] => {
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

const loadHistory = async (
  history: Asked['history'],
  about: Parameters<NonNullable<Asked['history']>['load']>[0],
): Promise<Message[] | undefined> => {
  if (history === undefined) return undefined;
  try {
    const loaded = await history.load(about);
    checkOne(loaded, isList, 'what load gives');
    return loaded.length === 0 ? [] : checkMessages(loaded);
  } catch (error) {
    throw providerError('history provider', error);
  }
};

/** Asks the history provider, then all context providers at once, for what holds in the turn under way. */
export const askProviders = async (
  agent: AnyActorRef,
  context: AgentContext,
  signal: AbortSignal,
  asked: Asked,
): Promise<TurnContext> => {
  const { sessionId, turn } = context;
  const about = { sessionId, turn: turn.number, context: hostOf(agent).context(), signal };
  const loaded = await loadHistory(asked.history, about);
  const messages = conversationOf(context, loaded);
  const provided = await Promise.all(
    asked.providers.map(async (provider) => {
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
    toolChanges: keepTools(provided, context, asked),
  };
};
