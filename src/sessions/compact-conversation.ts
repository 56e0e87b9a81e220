import type { CompactionNote } from '../actors/request-notes.ts';
import { AgentError, type ErrorData, errorData } from '../errors.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { isJson } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import type { ChatModel } from '../models/chat-model.ts';
import type { Compaction } from '../models/compaction.ts';
import { checkCompacted } from './check-compacted.ts';

export interface CompactionTask {
  compaction: Compaction;
  context: AgentContext;
  conversation: readonly Message[];
  /** What a compaction is given in place of a message, so that it changes what is sent and never what is stored (R49). */
  copyOf(message: Message): Message;
  model: ChatModel;
  signal: AbortSignal;
  /** What was sent before, and refused as too long. */
  refused?: CompactedConversation;
}

export interface CompactedConversation {
  messages: readonly Message[];
  /** Absent where nothing new was done. */
  note?: CompactionNote;
}

const failed = (cause: unknown): ErrorData =>
  errorData(new AgentError('compaction-failed', `compaction failed: ${errorData(cause).message}`, { cause }));

/** What is sent of a conversation. Where a compaction fails, all of it is, and an event tells. */
export const compactConversation = async (task: CompactionTask): Promise<CompactedConversation> => {
  const { compaction, context, conversation, copyOf, model, signal, refused } = task;
  const earlier = refused?.note;
  const before = conversation.length;
  const usage = context.modelCalls.findLast(({ purpose }) => purpose === undefined)?.usage;
  try {
    const given = conversation.map(copyOf);
    const compacted = await compaction.compact({
      messages: [...given],
      memory: earlier?.memory ?? context.compaction,
      usage,
      isTooLong: refused !== undefined,
      model,
      signal,
    });
    const { messages, memory, by, errors, calls } = checkCompacted(compacted, given);
    if (memory !== undefined && !isJson(memory)) throw new TypeError('its memory is no plain JSON');
    if (by.length === 0 && memory === undefined && errors === undefined && calls === undefined) return { messages };
    const kept = memory ?? earlier?.memory;
    const note: CompactionNote = {
      by: [...by],
      before,
      after: messages.length,
      errors: [...(earlier?.errors ?? []), ...(errors ?? []).map(failed)],
      calls: [...(earlier?.calls ?? []), ...(calls ?? [])],
      ...(kept === undefined ? {} : { memory: kept }),
    };
    return { messages, note };
  } catch (error) {
    signal.throwIfAborted();
    return { messages: conversation, note: { by: [], before, after: before, errors: [failed(error)], calls: [] } };
  }
};
