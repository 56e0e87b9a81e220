import { type UIMessage, isToolPart, lastAnswer } from './ui-types.ts';

/**
 * For `sendAutomaticallyWhen` of `useChat`: every approval that the page shows has its answer, and one of them is new. The AI SDK's own
 * check also waits for the other calls of the step; here they may wait for these decisions (`approvals.hold: 'all'`).
 */
export const hasAllDecisions = ({ messages }: { messages: readonly UIMessage[] }): boolean => {
  const parts = messages.at(-1)?.role === 'assistant' ? (lastAnswer(messages)?.parts ?? []) : [];
  const states = parts.filter(isToolPart).map(({ state }) => state);
  return states.includes('approval-responded') && !states.includes('approval-requested');
};
