import { createDistinctIds } from './distinct-ids.ts';
import type { AssistantMessage, Message, ToolCallPart, ToolMessage, ToolResultPart } from './message.ts';
import { callsOf } from './message.ts';
import { isEmptyMessage, providerCallIdOf, withOwnOptions } from './own-options.ts';
import type { PairedCall, PairedMessage } from './pair-results.ts';
import { isOwn, pairResults } from './pair-results.ts';
import { isAcceptable } from './violations.ts';

/** The result of a call that was cut off: nobody knows what it did. */
export const interruptedResult = (call: ToolCallPart): ToolResultPart => ({
  type: 'tool-result',
  toolCallId: call.toolCallId,
  toolName: call.toolName,
  output: { type: 'error-text', value: 'Error: the call was interrupted; its outcome is unknown.' },
});

/** The call under another id; the id that it had is the provider's, unless that one is known already. */
const renamed = (part: ToolCallPart, id: string): ToolCallPart => {
  if (part.toolCallId === id) return part;
  const keep = providerCallIdOf(part) === undefined && part.toolCallId !== '';
  return { ...(keep ? withOwnOptions(part, { providerCallId: part.toolCallId }) : part), toolCallId: id };
};

/** The result as the result of that call. */
const labelled = (result: ToolResultPart, { toolCallId, toolName }: ToolCallPart): ToolResultPart =>
  result.toolCallId === toolCallId && result.toolName === toolName ? result : { ...result, toolCallId, toolName };

/** Every call with an id of its own; the first to use an id keeps it. */
const nameCalls = (paired: readonly PairedMessage[], newId?: () => string): Map<PairedCall, ToolCallPart> => {
  const calls = paired.flatMap((item) => item.calls);
  const ids = new Set(calls.map(({ part }) => part.toolCallId));
  const distinct = createDistinctIds(ids);
  const first = new Set<string>();
  return new Map(
    calls.map((call) => {
      const id = call.part.toolCallId;
      const isFirst = id !== '' && !first.has(id);
      first.add(id);
      return [call, renamed(call.part, distinct(isFirst ? id : (newId?.() ?? id)))];
    }),
  );
};

const repairAssistant = (
  message: AssistantMessage,
  { calls, staying }: PairedMessage,
  named: ReadonlyMap<PairedCall, ToolCallPart>,
): AssistantMessage => {
  if (typeof message.content === 'string') return message;
  let next = 0;
  const content = message.content.flatMap((part, position): Exclude<AssistantMessage['content'], string> => {
    if (part.type === 'tool-result') {
      const answered = staying.get(position);
      return answered === undefined ? [] : [labelled(part, named.get(answered) ?? answered.part)];
    }
    if (part.type !== 'tool-call') return [part];
    const call = calls[next++];
    if (call === undefined) return [part];
    const ours = named.get(call) ?? part;
    return !isOwn(call) && call.found !== undefined ? [ours, labelled(call.found.result, ours)] : [ours];
  });
  const same =
    content.length === message.content.length && content.every((part, index) => part === message.content[index]);
  return same ? message : { ...message, content };
};

/** The one tool message after an assistant message; the one that was given where it is right already. */
const resultsOf = (
  calls: readonly PairedCall[],
  messages: readonly Message[],
  named: ReadonlyMap<PairedCall, ToolCallPart>,
): ToolMessage => {
  const content = calls.map((call) => {
    const ours = named.get(call) ?? call.part;
    return call.found === undefined ? interruptedResult(ours) : labelled(call.found.result, ours);
  });
  const at = calls.find(({ found }) => found !== undefined)?.found?.at;
  const given = at === undefined ? undefined : messages[at];
  if (given?.role !== 'tool') return { role: 'tool', content };
  const same = content.length === given.content.length && content.every((part, index) => part === given.content[index]);
  return same ? given : { ...given, content };
};

/**
 * Any list of messages → a history in which every call has exactly one result, in call order, in one tool message directly after it
 * (R6), and that `violations` finds nothing in. Results are gathered to their call; a call without one gets an error that says
 * "interrupted, outcome unknown"; a result without a call, a second result and an empty message are dropped; what stood between a
 * call and its result comes after it. Calls that the provider ran keep their results in the assistant's message.
 * Call ids are made unique: the first keeps its id, others get `newId()` or a suffix, and remember their own as `providerCallId`.
 * Nothing is mutated; what needs no repair is the same object. Never throws, unless `newId` does.
 */
export const repairHistory = (messages: readonly Message[], options: { newId?: () => string } = {}): Message[] => {
  if (isAcceptable(messages)) return [...messages];
  const paired = pairResults(messages);
  const named = nameCalls(paired, options.newId);
  return paired.flatMap((item, index): Message[] => {
    const message = messages[index];
    if (message === undefined || message.role === 'tool') return [];
    const whole = message.role === 'assistant' ? repairAssistant(message, item, named) : message;
    if (isEmptyMessage(whole)) return [];
    const own = item.calls.filter(isOwn);
    return own.length === 0 ? [whole] : [whole, resultsOf(own, messages, named)];
  });
};

/** The calls at the end of a history that wait for a result: of the last assistant message, if at most results follow it. */
export const openCalls = (messages: readonly Message[]): ToolCallPart[] => {
  const last = messages.findLastIndex((message) => message.role !== 'tool');
  const asked = messages[last];
  if (asked?.role !== 'assistant') return [];
  const answered = new Set(
    messages
      .slice(last + 1)
      .flatMap((message) => (message.role === 'tool' ? message.content : []))
      .map((part) => part.toolCallId),
  );
  return callsOf(asked).filter((call) => !answered.has(call.toolCallId));
};
