import { canonicalJson } from '../../../messages/json.ts';
import { callsOf, type Message } from '../../../messages/message.ts';
import type { ModelReply, ModelRequest } from '../../chat-model.ts';
import { ownFields } from '../user-content.ts';
import { outgoingItems } from './outgoing-items.ts';

/** 53 bits of the text (cyrb53): to notice a change, not to withstand one made on purpose. */
const digest = (text: string): string => {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
};

/** What the server knows after these messages, in short. */
const historyMark = (messages: readonly Message[], provider: string): string =>
  digest(canonicalJson(outgoingItems(messages, { provider, isKept: true, echoReasoning: true })));

/** The reply with a mark of the history that the server keeps with it, so that a later request can see whether it still holds. */
export const markReply = (reply: ModelReply, { messages }: ModelRequest, provider: string): ModelReply => {
  const own = ownFields(reply.message, provider);
  const isWhole = reply.finishReason === 'stop' || reply.finishReason === 'tool-calls';
  if (own.responseId === undefined || !isWhole) return reply;
  const history = historyMark([...messages, reply.message], provider);
  const providerOptions = { ...reply.message.providerOptions, [provider]: { ...own, history } };
  return { ...reply, message: { ...reply.message, providerOptions } };
};

/**
 * The reply to go on from, and the messages since. `undefined` where the history has to be sent whole: the last reply is not this
 * provider's, is not kept, or something up to it was edited, left out or added.
 */
export const keptHistory = (
  messages: readonly Message[],
  provider: string,
): { responseId: string; messages: readonly Message[] } | undefined => {
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  const reply = messages[last];
  if (reply?.role !== 'assistant') return undefined;
  const { responseId, history } = ownFields(reply, provider);
  const since = messages.slice(last + 1);
  if (typeof responseId !== 'string' || history === undefined) return undefined;
  if (since.every((message) => message.role === 'system')) return undefined;
  if (callsOf(reply).length > 0 && since[0]?.role !== 'tool') return undefined;
  return history === historyMark(messages.slice(0, last + 1), provider) ? { responseId, messages: since } : undefined;
};
