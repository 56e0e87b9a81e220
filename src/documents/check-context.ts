import type { AgentContext } from '../machines/agent-context.ts';
import { messagesOf } from '../machines/round.ts';
import { callsOf } from '../messages/message.ts';
import { violations } from '../messages/violations.ts';
import { agentContext } from './context-shape.ts';

/** The calls of a round are those of its reply, and each phase has with it what it needs. */
const roundProblem = ({ round }: AgentContext, above: string): string | undefined => {
  if (round === null) return undefined;
  const path = `${above}.round`;
  const parts = callsOf(round.reply);
  if (parts.length !== round.calls.length) return `${path}.calls are not the calls of its reply`;
  for (const [index, { callId, tool, phase, waiting, nested, result }] of round.calls.entries()) {
    const at = `${path}.calls[${index}]`;
    const part = parts[index];
    if (part?.toolCallId !== callId || part.toolName !== tool) return `${at} is not the call of its reply`;
    if ((phase === 'settled') !== (result !== undefined)) return `${at} is settled without a result, or the reverse`;
    if (phase === 'awaiting-decision' && waiting?.needs !== 'approval') return `${at}.waiting needs no approval`;
    if (phase === 'awaiting-agent' && nested === undefined) return `${at}.nested is missing`;
  }
  return undefined;
};

/** Of the history, and of what it becomes when the open round closes. */
const historyProblem = ({ messages, round }: AgentContext, paths: ContextPaths): string | undefined => {
  const [first] = violations(messages);
  if (first !== undefined) return `${paths.messages} are no history that a provider takes: ${first}`;
  const [next] = round === null ? [] : violations([...messages, ...messagesOf(round)]);
  return next === undefined ? undefined : `${paths.context}.round does not fit ${paths.messages}: ${next}`;
};

/** What is taken as it is: nothing, or the messages, where they come from a store that nobody else writes. */
export type Trust = 'nothing' | 'messages';

/** Where a context and its messages stand in their document. */
export interface ContextPaths {
  context: string;
  messages: string;
}

/** What is wrong with a context, with its path; undefined for one that an agent can go on with. Each message is one already. */
export const contextProblem = (context: AgentContext, paths: ContextPaths, trust: Trust): string | undefined => {
  const found = agentContext(context, paths.context) ?? roundProblem(context, paths.context);
  if (found !== undefined) return found;
  // To look at every message again would cost as much as to read it.
  return historyProblem(trust === 'messages' ? { ...context, messages: [] } : context, paths);
};
