import type { AnyActorRef } from 'xstate';
import { hostOf } from '../actors/host.ts';
import { metadataOf } from '../actors/metadata-of.ts';
import type { PreparedRequest } from '../actors/model.ts';
import type { RequestNotes } from '../actors/request-notes.ts';
import { AgentError } from '../errors.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { requestOf } from '../machines/request.ts';
import { showMessages } from '../messages/show-messages.ts';
import { repairHistory } from '../messages/history.ts';
import { copyJson } from '../messages/json.ts';
import { createViewer } from '../messages/view.ts';
import type { Message } from '../messages/message.ts';
import type { ChatModel } from '../models/chat-model.ts';
import { type Tool } from '../tools/tool.ts';
import { type ToolFinder, definitionOf } from '../tools/tool-finder.ts';
import type { AgentOptions } from './agent-options.ts';
import { type CompactedConversation, compactConversation } from './compact-conversation.ts';
import { conversationOf } from './conversation-of.ts';
import { show } from './option-bounds.ts';
import type { TurnContext, TurnContexts } from './turn-contexts.ts';
import { viewerOf } from './viewers.ts';

type Options = Pick<AgentOptions, 'instructions' | 'toolChoice' | 'settings' | 'compaction'>;

export interface RequestBuilderOptions {
  options: Options;
  tools: ToolFinder;
  turns: TurnContexts;
  answer: Tool | undefined;
  isAnswerTool: boolean;
  contextOf(agent: AnyActorRef): AgentContext;
}

export type BuildRequest = (agent: AnyActorRef, model: ChatModel, signal: AbortSignal) => Promise<PreparedRequest>;

const askForInstructions = async (
  instructions: Exclude<Options['instructions'], string | undefined>,
  { sessionId, messages, turn }: AgentContext,
  context: unknown,
): Promise<string> => {
  const about = { sessionId, context, iteration: turn.iterations + 1 };
  const text: unknown = await instructions(showMessages(about, () => messages));
  if (typeof text === 'string') return text;
  throw new AgentError('invalid-option', `option "instructions" must give a string, gave ${show(text)}`);
};

/** What holds for this turn alone stands in front of what it was asked, wherever a compaction has left that; what is kept stands behind it. */
const withContext = (
  sent: readonly Message[],
  { turn, elsewhere, messages }: AgentContext,
  given: TurnContext | undefined,
  copyOf: (message: Message) => Message,
): readonly Message[] => {
  const { passing = [], kept = [] } = given ?? {};
  const all = turn.keepsContext === true || kept.length === 0 ? sent : [...sent, ...kept];
  if (passing.length === 0) return all;
  const ofTurn = new Set(messages.slice(turn.firstMessage).flatMap((message) => [message, copyOf(message)]));
  const found = sent.findIndex((message) => ofTurn.has(message));
  // A turn that is retried has been handed over: its messages come from elsewhere, at the end of what is loaded.
  const handed = Math.max(0, (elsewhere?.handed ?? 0) - turn.firstMessage);
  const at = Math.max(0, (found === -1 ? sent.length : found) - handed);
  return [...all.slice(0, at), ...passing, ...all.slice(at)];
};

/** Makes what a model is asked from what the session knows, what providers give to the turn, and what a compaction leaves of it. */
export const createRequestBuilder = (parts: RequestBuilderOptions): BuildRequest => {
  const { options, tools, turns, answer, isAnswerTool, contextOf } = parts;
  const { instructions, toolChoice, settings, compaction } = options;
  const copies = new WeakMap<Message, Message>();
  /** The same copy each time: what is made of it is known again by the message. */
  const copyOf = (message: Message): Message => {
    const copy = copies.get(message) ?? copyJson(message);
    copies.set(message, copy);
    return copy;
  };
  const output = answer && { definition: definitionOf(answer), asTool: isAnswerTool };

  return async (agent, model, signal) => {
    // Nothing is awaited that is not there: a plain request is ready in the same turn of the microtask queue.
    const asking = turns.ask(agent, signal);
    const given = asking === undefined ? undefined : await asking;
    const context = contextOf(agent);
    const { turn } = context;
    const own =
      typeof instructions === 'function'
        ? await askForInstructions(instructions, context, hostOf(agent).context())
        : instructions;
    const conversation = conversationOf(context, given?.loaded);
    const changes = given?.toolChanges ?? [];
    const kept = turn.keepsContext === true ? [] : (given?.kept ?? []);

    const prepare = (compacted?: CompactedConversation): PreparedRequest => {
      const sent = withContext(compacted?.messages ?? conversation, context, given, copyOf);
      const notes: RequestNotes = {
        ...(changes.length === 0 ? {} : { toolChanges: changes }),
        ...(kept.length === 0 ? {} : { messages: kept }),
        ...(compacted?.note === undefined ? {} : { compaction: compacted.note }),
      };
      const known = new Set(turn.toolChanges.map(({ toolKey }) => toolKey));
      const added = changes.filter(({ toolKey }) => !known.has(toolKey));
      const request = requestOf(
        context,
        {
          view: viewerOf(agent, createViewer),
          // What the session holds is whole; what comes from others may not be.
          messages: sent === context.messages ? sent : repairHistory(sent),
          instructions: [...(own === undefined ? [] : [own]), ...(given?.instructions ?? [])]
            .filter(Boolean)
            .join('\n\n'),
          tools: tools.definitions(added.length === 0 ? turn.toolChanges : [...added, ...turn.toolChanges]),
          toolChoice,
          settings,
          output,
        },
        model,
      );
      return Object.keys(notes).length === 0 ? { request } : { request, notes };
    };

    if (compaction === undefined) return prepare();
    const about = { sessionId: context.sessionId, metadata: metadataOf(agent) };
    const ofTurn: ChatModel = {
      name: model.name,
      generate: (request, given) => model.generate(request, { ...about, ...given }),
    };
    const task = { compaction, context, conversation, copyOf, model: ofTurn, signal };
    const first = await compactConversation(task);
    return {
      ...prepare(first),
      shorten: async () => {
        const shorter = await compactConversation({ ...task, refused: first });
        return (shorter.note?.by.length ?? 0) === 0 ? undefined : prepare(shorter);
      },
    };
  };
};
