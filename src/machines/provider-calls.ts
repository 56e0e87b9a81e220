import type { AssistantMessage, Message, Part, ToolCallPart } from '../messages/message.ts';
import { callsOf } from '../messages/message.ts';
import { providerCallIdOf, withOwnOptions } from '../messages/own-options.ts';

/** Calls that a provider began to run in an earlier reply and has not answered yet. */
const deferredCalls = (history: readonly Message[]): ToolCallPart[] => {
  const open = new Map<string, ToolCallPart>();
  for (const { role, content } of history) {
    if (role !== 'assistant' || typeof content === 'string') continue;
    for (const part of content) {
      if (part.type === 'tool-call' && part.providerExecuted === true) open.set(part.toolCallId, part);
    }
    for (const part of content) if (part.type === 'tool-result') open.delete(part.toolCallId);
  }
  return [...open.values()];
};

/**
 * Gives the calls that the provider ran itself ids of ours and keeps the provider's beside them (R8): some providers number them afresh in
 * every reply. `number` is the reply's in its session. Results follow their calls; one without a call is left out. The same message
 * where there are none.
 */
export const nameProviderCalls = (
  message: AssistantMessage,
  number: number,
  history: readonly Message[],
): AssistantMessage => {
  if (typeof message.content === 'string') return message;
  const own = new Set<Part>(callsOf(message));
  const isTheirs = (part: Part): boolean =>
    (part.type === 'tool-call' && !own.has(part)) || part.type === 'tool-result';
  if (!message.content.some(isTheirs)) return message;
  const open: ToolCallPart[] = [];
  const named = message.content.map((part, index) => {
    if (part.type !== 'tool-call' || own.has(part)) return part;
    const kept = part.toolCallId === '' ? part : withOwnOptions(part, { providerCallId: part.toolCallId });
    const call = { ...kept, toolCallId: `provider_${number}_${index}` };
    open.push(call);
    return call;
  });
  open.push(...deferredCalls(history));
  const content = named.flatMap((part): Exclude<AssistantMessage['content'], string> => {
    if (part.type !== 'tool-result') return [part];
    const at = open.findIndex((call) => (providerCallIdOf(call) ?? '') === part.toolCallId);
    const [call] = at === -1 ? [] : open.splice(at, 1);
    return call === undefined ? [] : [{ ...part, toolCallId: call.toolCallId, toolName: call.toolName }];
  });
  return { ...message, content };
};
