import type { AssistantMessage, Message, ToolCallPart, ToolResultPart } from './message.ts';
import { callsOf } from './message.ts';
import { isEmptyMessage } from './own-options.ts';

const mismatch = (call: ToolCallPart, result: ToolResultPart | undefined): string | undefined => {
  if (result === undefined) return `call "${call.toolCallId}" has no result`;
  if (result.toolCallId !== call.toolCallId)
    return `a result for "${result.toolCallId}" stands where the result of call "${call.toolCallId}" belongs`;
  if (result.toolName !== call.toolName)
    return `the result of call "${call.toolCallId}" names the tool "${result.toolName}", the call "${call.toolName}"`;
  return undefined;
};

/** What is wrong inside one assistant message. `ids`: all so far. `deferred`: provider-run calls whose result may come later. */
const inside = (message: AssistantMessage, ids: Set<string>, deferred: Map<string, ToolCallPart>): string[] => {
  if (typeof message.content === 'string') return [];
  const found: string[] = [];
  const answerable = new Map(deferred);
  for (const part of message.content) {
    if (part.type !== 'tool-call') continue;
    if (part.toolCallId === '') found.push('a call has no id');
    if (ids.has(part.toolCallId)) found.push(`two calls have the id "${part.toolCallId}"`);
    ids.add(part.toolCallId);
    answerable.set(part.toolCallId, part);
    if (part.providerExecuted === true) deferred.set(part.toolCallId, part);
  }
  for (const part of message.content) {
    if (part.type !== 'tool-result') continue;
    const call = answerable.get(part.toolCallId);
    const wrong = call === undefined ? `result "${part.toolCallId}" has no call` : mismatch(call, part);
    if (wrong !== undefined) found.push(wrong);
    answerable.delete(part.toolCallId);
    deferred.delete(part.toolCallId);
  }
  return found;
};

/**
 * What a strict provider would refuse, one sentence each, with the index of the message: a call without its result in the one tool
 * message directly after it, results in another order than the calls, a result without a call, ids that repeat, a
 * message with nothing in it. `[]` for a history that is whole (R6). Looks at the shape of the history, not at a tool's arguments.
 */
export const violations = (messages: readonly Message[]): string[] => {
  const found: string[] = [];
  const ids = new Set<string>();
  const deferred = new Map<string, ToolCallPart>();
  let waiting: ToolCallPart[] = [];

  messages.forEach((message, index) => {
    const report = (...sentences: string[]): void => {
      for (const sentence of sentences) found.push(`messages[${index}]: ${sentence}`);
    };
    if (isEmptyMessage(message)) report(`the ${message.role} message is empty`);
    if (message.role === 'tool') {
      if (waiting.length === 0 || message.content.length > waiting.length)
        report('there are results without a call in the message before');
      waiting.forEach((call, position) => {
        const wrong = mismatch(call, message.content[position]);
        if (wrong !== undefined) report(wrong);
      });
      waiting = [];
      return;
    }
    for (const call of waiting) report(`stands between call "${call.toolCallId}" and its result`);
    waiting = message.role === 'assistant' ? callsOf(message) : [];
    if (message.role === 'assistant') report(...inside(message, ids, deferred));
  });
  for (const call of waiting) found.push(`messages[${messages.length}]: call "${call.toolCallId}" has no result`);
  return found;
};

/** True where no provider has a reason to refuse the history for its shape. */
export const isAcceptable = (messages: readonly Message[]): boolean => violations(messages).length === 0;
