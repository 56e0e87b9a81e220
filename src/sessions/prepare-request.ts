import type { PreparedRequest } from '../actors/model.ts';
import { metadataOf } from '../actors/metadata-of.ts';
import type { RequestNotes } from '../actors/request-notes.ts';
import type { AnyActorRef } from 'xstate';
import type { AgentContext } from '../machines/agent-context.ts';
import { repairHistory } from '../messages/history.ts';
import { copyJson } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import type { ChatModel, ModelRequest } from '../models/chat-model.ts';
import type { Compaction } from '../models/compaction.ts';
import type { ToolChange } from '../tools/call.ts';
import { type CompactedConversation, compactConversation } from './compact-conversation.ts';
import { conversationOf } from './conversation-of.ts';
import type { TurnContext } from './turn-contexts.ts';

/** What a request is made of beside what the session has. */
export interface Sent {
  messages: readonly Message[];
  instructions: readonly string[];
  toolChanges: readonly ToolChange[];
}

export interface RequestTask {
  agent: AnyActorRef;
  context: AgentContext;
  /** What providers give to the turn; undefined where there are none. */
  given: TurnContext | undefined;
  compaction: Compaction | undefined;
  model: ChatModel;
  signal: AbortSignal;
  /** What a compaction was given in place of a message, for as long as that is there. */
  copies: WeakMap<Message, Message>;
  requestOf(sent: Sent): ModelRequest;
}

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

/** Makes what a model is asked where it is not just what the session has: with what providers give to the turn, and what a compaction leaves. */
export const prepareRequest = async (task: RequestTask): Promise<PreparedRequest> => {
  const { agent, context, given, compaction, model, signal, copies, requestOf } = task;
  const { turn } = context;
  const conversation = conversationOf(context, given?.loaded);
  const changes = given?.toolChanges ?? [];
  const kept = turn.keepsContext === true ? [] : (given?.kept ?? []);

  /** The same copy each time: what is made of it is known again by the message. */
  const copyOf = (message: Message): Message => {
    const copy = copies.get(message) ?? copyJson(message);
    copies.set(message, copy);
    return copy;
  };

  const prepare = (compacted?: CompactedConversation): PreparedRequest => {
    const sent = withContext(compacted?.messages ?? conversation, context, given, copyOf);
    const notes: RequestNotes = {
      ...(changes.length === 0 ? {} : { toolChanges: changes }),
      ...(kept.length === 0 ? {} : { messages: kept }),
      ...(compacted?.note === undefined ? {} : { compaction: compacted.note }),
    };
    const known = new Set(turn.toolChanges.map(({ toolKey }) => toolKey));
    const request = requestOf({
      // What the session holds is whole; what comes from others may not be.
      messages: sent === context.messages ? sent : repairHistory(sent),
      instructions: given?.instructions ?? [],
      toolChanges: changes.filter(({ toolKey }) => !known.has(toolKey)),
    });
    return Object.keys(notes).length === 0 ? { request } : { request, notes };
  };

  if (compaction === undefined) return prepare();
  const about = { sessionId: context.sessionId, metadata: metadataOf(agent) };
  const ofTurn: ChatModel = {
    name: model.name,
    generate: (request, given) => model.generate(request, { ...about, ...given }),
  };
  const compacting = { compaction, context, conversation, copyOf, model: ofTurn, signal };
  const first = await compactConversation(compacting);
  return {
    ...prepare(first),
    shorten: async () => {
      const shorter = await compactConversation({ ...compacting, refused: first });
      return (shorter.note?.by.length ?? 0) === 0 ? undefined : prepare(shorter);
    },
  };
};
