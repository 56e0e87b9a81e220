import type { Message } from '../messages/message.ts';

const idsOf = (message: Message, type: 'tool-call' | 'tool-result'): string[] =>
  typeof message.content === 'string'
    ? []
    : message.content.flatMap((part) => (part.type === type ? [part.toolCallId] : []));

/**
 * Where a history can be cut: the indices of messages before which every call has its result, so that a call and its results stay
 * together (B71). Also of calls that a provider runs and answers in a later reply.
 */
export const boundariesOf = (messages: readonly Message[]): number[] => {
  const answered = new Set(messages.flatMap((message) => idsOf(message, 'tool-result')));
  const open = new Set<string>();
  return messages.flatMap((message, index) => {
    const isBoundary = open.size === 0 && message.role !== 'tool';
    for (const id of idsOf(message, 'tool-call')) if (answered.has(id)) open.add(id);
    for (const id of idsOf(message, 'tool-result')) open.delete(id);
    return isBoundary ? [index] : [];
  });
};
